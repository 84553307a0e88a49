/** How much a finding matters; a check fails from `warning` on. */
export type Severity = 'info' | 'notice' | 'warning' | 'error';

/** A kind of finding: how much it matters, and what it means. */
export interface FindingKind {
  readonly severity: Severity;
  /** One sentence, as docs/check.md has it. */
  readonly meaning: string;
}

/** The state of the code that a record rests on, compared with the time when it was written. */
export const verdicts = {
  fresh: {
    severity: 'info',
    meaning:
      'The lines have the same text as before; without line numbers, the file or folder exists.',
  },
  moved: {
    severity: 'notice',
    meaning:
      "The text is in other lines of the file, or git's history shows that the file was renamed.",
  },
  ambiguous: {
    severity: 'notice',
    meaning:
      'The text occurs more than once, and not in its old lines; the nearest place is named.',
  },
  changed: {
    severity: 'warning',
    meaning:
      'The file no longer has the text; the commit that changed it is named, with its author and subject, and the lines that differ are shown.',
  },
  gone: { severity: 'error', meaning: 'The file or folder was removed.' },
  beyond: {
    severity: 'error',
    meaning:
      'The file ends before the lines, and had no such lines when the record was written either.',
  },
  unknown: {
    severity: 'notice',
    meaning:
      'Git cannot say: an untracked or binary file, one larger than 2 MiB, a symbolic link, a submodule, a file that was committed after the record, lines that the file had not when the record was written, a shallow clone, or for a memory apart from the code, a clone without the commit at which the record was written.',
  },
} satisfies { readonly [name: string]: FindingKind };

/** Problems of a record as such, without a look at the code. */
export const textKinds = {
  unreadable: {
    severity: 'error',
    meaning: 'The file is not a record that the program can read, so no answer has it.',
  },
  conflict: {
    severity: 'error',
    meaning: 'A merge left conflict markers in it; those in a block of code do not count.',
  },
  secret: {
    severity: 'error',
    meaning:
      'It contains what looks like a credential, which somebody wrote by hand; the finding has its line and its fingerprint.',
  },
  settings: {
    severity: 'error',
    meaning: '`config.yaml` cannot be read, so nothing is written.',
  },
  rule: {
    severity: 'error',
    meaning:
      'It is a rule file of a mode that cannot be used, so the mode has other rules or none.',
  },
  stray: {
    severity: 'error',
    meaning: 'It would be a record if its name ended in `.yaml` or `.md`, so nothing reads it.',
  },
  layout: {
    severity: 'warning',
    meaning:
      'Entries in the wrong layout: each entry should be a file of its own, and a merge has left some in the log.',
  },
  broken: {
    severity: 'error',
    meaning:
      'A field names a record that does not exist, its successor does not exist, or what it supersedes never existed.',
  },
  hidden: {
    severity: 'error',
    meaning:
      'Two live decisions of one file have the same heading, which names only the first of them.',
  },
  case: {
    severity: 'error',
    meaning: 'Its name differs from another one only in letter case or Unicode normal form.',
  },
  duplicate: {
    severity: 'error',
    meaning: 'Another file has the same key and counts, so nothing else reads this one.',
  },
  superseded: {
    severity: 'warning',
    meaning: 'The record or section does not say that another one supersedes it.',
  },
  rivals: {
    severity: 'warning',
    meaning: 'Two live records or sections supersede the same one.',
  },
  link: { severity: 'warning', meaning: 'A live record names a superseded record or section.' },
  title: { severity: 'warning', meaning: 'Two live decisions have the same title.' },
  expired: { severity: 'warning', meaning: 'Its last day is over.' },
  copy: {
    severity: 'notice',
    meaning:
      'Git does not have it, and its name is that of a copy of a record that git has, as a cloud folder makes it.',
  },
  relative_date: {
    severity: 'notice',
    meaning:
      'Its text contains a date such as "last week"; current work, quoted text and code do not count.',
  },
  similar: {
    severity: 'notice',
    meaning: 'Another live record says nearly the same; only the prompt `tend-memory` lists it.',
  },
  large: {
    severity: 'notice',
    meaning: 'It is larger than 32 KiB; only the prompt `tend-memory` lists it.',
  },
} satisfies { readonly [name: string]: FindingKind };

/** Claims of instructions and documents that were true and no longer are. */
export const docKinds = {
  path: {
    severity: 'warning',
    meaning: 'A file or folder, or every file of a pattern, was removed.',
  },
  link: {
    severity: 'warning',
    meaning: 'The target of a link was removed, or never existed.',
  },
  anchor: { severity: 'warning', meaning: 'The heading that a link leads to was removed.' },
  script: { severity: 'warning', meaning: 'No `package.json` has the script any more.' },
  target: {
    severity: 'warning',
    meaning: 'No Makefile has the target any more, or no justfile the recipe.',
  },
  crate: {
    severity: 'warning',
    meaning: 'No `Cargo.toml` has a package or binary of this name any more.',
  },
  command: {
    severity: 'warning',
    meaning: 'A program of the project had the command, and no code has its name any more.',
  },
  option: {
    severity: 'warning',
    meaning: 'A program of the project had the option, and no code has its name any more.',
  },
  variable: {
    severity: 'warning',
    meaning: 'The code read an environment variable, and has its name nowhere any more.',
  },
  runtime: {
    severity: 'warning',
    meaning: 'The manifest asks for a newer version of the language.',
  },
} satisfies { readonly [name: string]: FindingKind };
