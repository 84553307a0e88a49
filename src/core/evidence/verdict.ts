import type { Lines, Reference } from './reference.ts';

/**
 * The state of the code that a record rests on, compared with the time when it was written.
 *
 * `fresh`: as it was. `moved`: the same text in other lines or another file. `ambiguous`: the text occurs
 * more than once. `changed`: the file no longer has the text. `gone`: the file was removed. `unknown`:
 * git cannot say.
 */
export type Verdict = 'fresh' | 'moved' | 'ambiguous' | 'changed' | 'gone' | 'unknown';

/** How much a finding matters; a check fails from `warning` on. */
export type Severity = 'info' | 'notice' | 'warning' | 'error';

/** The severity of each verdict. */
export const severityOf: { readonly [verdict in Verdict]: Severity } = {
  fresh: 'info',
  moved: 'notice',
  ambiguous: 'notice',
  unknown: 'notice',
  changed: 'warning',
  gone: 'error',
};

/** A place that a record rests on: `given` by the caller, or `found` in the text of the record. */
interface Evidence extends Reference {
  /** The name of a declaration, which was given instead of lines. */
  readonly symbol?: string | undefined;
  readonly source: 'given' | 'found';
}

/** A place in the code as it is now. */
export interface CodePlace {
  readonly path: string;
  /** Undefined for a file as a whole. */
  readonly lines: Lines | undefined;
}

/** The verdict about one piece of evidence. */
export interface EvidenceFinding {
  readonly kind: 'evidence';
  readonly verdict: Verdict;
  readonly severity: Severity;
  readonly evidence: Evidence;
  /** Where the text is now; undefined where it is not found, or in no single place. */
  readonly now: CodePlace | undefined;
  /** The commit that changed the text or removed the file; undefined if nobody has committed the change. */
  readonly commit: string | undefined;
  /** The lines that have changed, in the unified format of diff(1); for the verdict `changed`. */
  readonly diff?: string;
  readonly message: string;
}

/**
 * Problems of a record as such, without a look at the code.
 *
 * `unreadable`: it cannot be read. `conflict`: a merge left markers in it. `secret`: it contains a
 * credential. `settings`: the settings cannot be read. `case`: its name differs from another one only in
 * letter case.
 *
 * `superseded`: it does not say by which record it was replaced, or that one is missing. `link`: it
 * names a superseded record. `rivals`: two records replace the same one. `title`: another decision has
 * its title. `duplicate`: another file has its key and counts. `copy`: its name is that of a copy of
 * another record. `relative_date`: its text contains a date such as "last week". `expired`, `similar`,
 * `large`.
 */
const textKinds = [
  'unreadable',
  'conflict',
  'secret',
  'settings',
  'case',
  'superseded',
  'link',
  'rivals',
  'title',
  'duplicate',
  'copy',
  'relative_date',
  'expired',
  'similar',
  'large',
] as const;
export type TextKind = (typeof textKinds)[number];

/** A finding about the text of one record, and the other records that it is about. */
export interface TextFinding {
  readonly kind: TextKind;
  readonly severity: Severity;
  /** Paths of the other records. */
  readonly records: readonly string[];
  /** The line that it is about, from 1 on; undefined for a record as a whole. */
  readonly line?: number;
  readonly message: string;
}

export type CheckFinding = EvidenceFinding | TextFinding;

/** The findings about one record. */
export interface RecordFindings {
  /** Relative to `.memory-bank/`. */
  readonly path: string;
  /** The severest first. */
  readonly findings: readonly CheckFinding[];
}

/** Which records to check. */
export interface EvidenceRequest {
  /** A record or a folder; undefined for everything. */
  readonly path?: string | undefined;
  /**
   * Only evidence in files that changed since the common ancestor of HEAD and this revision, without text
   * that an earlier commit had changed.
   */
  readonly since?: string | undefined;
  /** Write the new places of given evidence that was moved. */
  readonly fix?: boolean | undefined;
  /** Only findings about code, or only contradictions in and between texts. */
  readonly only?: 'code' | 'texts' | undefined;
  /** Also findings that are only hints for tending: similar and large records. */
  readonly tending?: boolean | undefined;
}

/** The number of findings of each verdict, and of each other kind that was found. */
type EvidenceCounts = { readonly [verdict in Verdict]: number } & {
  readonly [kind in TextKind]?: number;
};

/** The evidence of the records, compared with the code in the work tree. */
export interface EvidenceReport {
  /** Records with evidence, sorted by path. */
  readonly records: readonly RecordFindings[];
  readonly counts: EvidenceCounts;
  /** Paths of the records that were changed because of moved code. */
  readonly fixed?: readonly string[];
}
