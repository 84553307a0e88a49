import type { docKinds, Severity } from './finding-kinds.ts';

/** A kind of claims of instructions and documents that can be checked; see `docKinds`. */
export type ClaimKind = keyof typeof docKinds;

/** A claim that was true and no longer is. */
export interface DocFinding {
  readonly kind: ClaimKind;
  readonly severity: Severity;
  /** From 1 on. */
  readonly line: number;
  /** The claim as it is written. */
  readonly text: string;
  /** The commit that broke it; undefined if nobody has committed that, or for a link that never worked. */
  readonly commit: string | undefined;
  /** The claim as it has to be now, where git's history says so. */
  readonly now: string | undefined;
  readonly message: string;
}

/** The findings about one file. */
export interface DocFindings {
  /** Relative to the project. */
  readonly path: string;
  readonly findings: readonly DocFinding[];
}

/** The claims of the instructions and documents of a project, compared with its code. */
export interface DocsReport {
  /** Files with findings, sorted by path. */
  readonly files: readonly DocFindings[];
  readonly counts: {
    readonly files: number;
    readonly claims: number;
    readonly drifted: number;
    readonly true: number;
    readonly unknown: number;
  };
  /** Paths of the files in which new names were written. */
  readonly fixed?: readonly string[];
}
