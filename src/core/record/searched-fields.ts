import { metadataOf } from './metadata-text.ts';
import type { AnyRecordType, SearchFields } from './record-type.ts';

/** Stands between the notes of a record and its metadata, which is searched and not shown. */
const mark = '\n\u001e';

/** The texts of a record that a search finds: its fields, and its metadata at the end of the notes. */
export function searchedFields(type: AnyRecordType, value: object): SearchFields {
  const fields: SearchFields = type.search(value);
  const text = metadataOf(value);
  return text === '' ? fields : { ...fields, notes: `${fields.notes ?? ''}${mark}${text}` };
}

/** The end of the notes that are shown. */
export function notesEnd(notes: string): number {
  const at = notes.indexOf(mark);
  return at < 0 ? notes.length : at;
}
