/** The keys of a record's file that are annotations. */
export const annotationKeys: readonly string[] = [
  'evidence',
  'verified',
  'supersedes',
  'superseded_by',
  'expires',
  'claim',
];
