import type { DocsReport } from './doc-finding.ts';
import type { Severity, textKinds, verdicts } from './finding-kinds.ts';
import type { Lines, Reference } from './reference.ts';
import type { Fingerprint } from './span.ts';

/** The state of the code that a record rests on; see `verdicts`. */
export type Verdict = keyof typeof verdicts;

/** A place that a record rests on: `given` by the caller, or `found` in the text of the record. */
interface Evidence extends Reference {
  /** The name of a declaration, which was given instead of lines. */
  readonly symbol?: string | undefined;
  /** The text of a given place as it was. */
  readonly fingerprint?: Fingerprint | undefined;
  readonly source: 'given' | 'found';
}

/** A place in the code as it is now. */
export interface CodePlace {
  readonly path: string;
  /** Undefined for a file as a whole. */
  readonly lines: Lines | undefined;
}

/** A line of a file of the memory. */
export interface StoredLine {
  /** Relative to `.memory-bank/`. */
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
}

/** A commit that changed the code of a record. */
export interface CodeCommit {
  readonly oid: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** `Ada Lovelace <ada@example.org>`. */
  readonly author: string;
  readonly subject: string;
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
  /** The same commit with its message. */
  readonly changedBy?: CodeCommit;
  /** The lines that have changed, in the unified format of diff(1); for `changed` and `gone`. */
  readonly diff?: string;
  /** The changed lines as they are now; for the verdict `changed`. */
  readonly change?: CodePlace;
  /** The line of the record that names the place, from 1 on; not for the verdict `fresh`. */
  readonly line?: number;
  /** As in `TextFinding`. */
  readonly stored?: StoredLine;
  readonly message: string;
  /** As in `TextFinding`. */
  readonly mend?: string;
}

/** A problem of a record as such; see `textKinds`. */
export type TextKind = keyof typeof textKinds;

/** A finding about the text of one record, and the other records that it is about. */
export interface TextFinding {
  readonly kind: TextKind;
  readonly severity: Severity;
  /** Paths of the other records. */
  readonly records: readonly string[];
  /** The line that it is about, from 1 on; undefined for a record as a whole. */
  readonly line?: number;
  /** Where that line is stored, of a log whose entries are files of their own. */
  readonly stored?: StoredLine;
  readonly message: string;
  /** A command that mends it, as a person types it in the folder of the project. */
  readonly mend?: string;
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
  /** A record, the address of a section of one, or a folder; undefined for everything. */
  readonly path?: string | undefined;
  /**
   * Only evidence in files that changed since the common ancestor of HEAD and this revision, without text
   * that an earlier commit had changed.
   */
  readonly since?: string | undefined;
  /** Write the new places of given evidence that was moved. */
  readonly fix?: boolean | undefined;
  /** Also what instructions and documents say; undefined asks the settings. */
  readonly docs?: boolean | undefined;
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
  /** The claims of instructions and documents about the project, if they were checked. */
  readonly docs?: DocsReport;
  /** Paths of the records that were changed because of moved code. */
  readonly fixed?: readonly string[];
  readonly folders: ReportFolders;
}

/** The folders to which the paths of a report are relative, as paths in the repository. */
export interface ReportFolders {
  /** The memory folder, in the repository of the memory. */
  readonly memory: string;
  /** The project, in the repository of its code. */
  readonly project: string;
}
