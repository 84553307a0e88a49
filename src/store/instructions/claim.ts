import type { ClaimKind } from '../../core/evidence/doc-finding.ts';
import type { NameSource } from './name-sources.ts';

interface ClaimPlace {
  readonly kind: ClaimKind;
  /** The claim as it is written; the history of its file is searched for it. */
  readonly text: string;
  /** Offset of the text in its file. */
  readonly start: number;
}

/** The claim that a file, a folder or a file that matches a pattern exists. */
export interface PathClaim extends ClaimPlace {
  readonly kind: 'path' | 'link';
  /** The paths of the repository that it can mean, the most likely first. */
  readonly paths: readonly string[];
  /** Whether it has wildcards. */
  readonly isPattern: boolean;
  /** Whether it is a name without folders, which any folder can have. */
  readonly isBare: boolean;
}

/** The claim that one of some files defines a name. */
export interface NameClaim extends ClaimPlace {
  readonly kind:
    | 'anchor'
    | 'script'
    | 'target'
    | 'crate'
    | 'command'
    | 'option'
    | 'variable'
    | 'runtime';
  readonly source: NameSource;
  readonly name: string;
  /** The file that defines it; undefined for any file of the source. */
  readonly file?: string | undefined;
  /** The folders with the sources of the program that a command or an option is of. */
  readonly folders?: readonly string[];
  /** Whether the command can also run a program of this name. */
  readonly isShort?: boolean;
}

export type Claim = PathClaim | NameClaim;

/** A claim that is not true now. */
export interface OpenClaim {
  /** The path of its file in the repository. */
  readonly doc: string;
  readonly claim: Claim;
  /** From 1 on. */
  readonly line: number;
  /** The file that can define the name of a claim; undefined if any of its kind can. */
  readonly file: string | undefined;
  /** The files and folders that end in the path of a claim. */
  readonly elsewhere: readonly string[];
}
