import type { GivenEvidence } from '../../core/evidence/annotations.ts';
import type { FoundReference, Lines } from '../../core/evidence/reference.ts';
import { type Fingerprint, SpanText } from '../../core/evidence/span.ts';
import { findSymbol } from '../../core/evidence/symbol.ts';
import type { CodePlace, Verdict } from '../../core/evidence/verdict.ts';
import type { Oid } from '../../git/objects/object.ts';
import {
  type CodeEntry,
  type CodeFile,
  type CodeText,
  isBinary,
  type ProjectCode,
  toText,
} from './project-code.ts';
import type { Ground } from './record-evidence.ts';
import type { RenameSearch } from './rename-search.ts';

/** The state of the code on which a record was written. */
export interface Baseline {
  readonly commit: Oid;
  /** Whether the record may be older than this commit, because a shallow clone ends there. */
  readonly cut: boolean;
  /** Whether this clone lacks the commit on which it was written, and this is the last one before it. */
  readonly guessed?: boolean | undefined;
}

/** A verdict about a place in the code. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly now?: CodePlace;
  /** Why the verdict is `unknown` or `beyond`. */
  readonly reason?: string;
  /** Whether HEAD has the same content of the file as the baseline, so that the change is uncommitted. */
  readonly uncommitted?: boolean;
  /** The text that a file no longer has; for the verdict `changed`. */
  readonly lost?: LostText;
}

/** A text that a file no longer has. */
export interface LostText {
  readonly fingerprint: Fingerprint;
  /** The path of the file now. */
  readonly path: string;
  /** Its present content, if it was read. */
  readonly bytes?: Buffer | undefined;
  /** The content at the baseline; given evidence has no such content if it was not committed. */
  readonly blob?: Oid | undefined;
}

/** Judges places in one file, which is read once. */
export class FileJudge {
  readonly #code: ProjectCode;
  readonly #renames: RenameSearch;
  readonly #head: Oid;
  readonly #path: string;
  readonly #now: ReturnType<ProjectCode['now']>;
  readonly #past = new Map<Oid, CodeText>();
  readonly #texts = new Map<string, CodeText>();
  readonly #others = new Map<string, ReturnType<ProjectCode['now']>>();
  /** The number of lines of each text file, by its path. */
  readonly #lengths = new Map<string, number | undefined>();

  constructor(code: ProjectCode, renames: RenameSearch, head: Oid, path: string) {
    this.#code = code;
    this.#renames = renames;
    this.#head = head;
    this.#path = path;
    this.#now = code.now(path, head);
  }

  /** Whether HEAD and the work tree lack the file, but a record rests on it. */
  isRemoved(
    based: readonly { readonly baseline: Baseline; readonly reference: Ground }[],
  ): boolean {
    if (this.#now || this.#code.at(this.#head, this.#path)) return false;
    return based.some(({ baseline, reference }) => {
      if (reference.source === 'given') return true;
      return this.#code.at(baseline.commit, this.#path)?.kind === 'file';
    });
  }

  /** Whether the work tree has other content than a commit. */
  differsFrom(commit: Oid): boolean {
    return !isSame(this.#code.at(commit, this.#path), this.#now?.entry);
  }

  /**
   * Compares the file, or some lines of it, with the baseline.
   *
   * @returns undefined if the reference means no file: neither the baseline nor the work tree has it.
   */
  judge(baseline: Baseline, ground: Ground): Judgement | undefined {
    if (ground.source === 'given') return this.#judgeGiven(baseline, ground);
    const judgement = this.#judgeFound(baseline, ground);
    if (!baseline.guessed || !judgement || judgement.verdict === 'fresh') return judgement;
    // The record can be about the code after the change that a comparison would show.
    return unknown('the commit on which it was written is not in this clone');
  }

  #judgeFound(baseline: Baseline, ground: FoundReference): Judgement | undefined {
    const { lines, certain } = ground;
    const before = this.#code.at(baseline.commit, this.#path);
    const now = this.#now?.entry;
    if (!certain && (before ?? now)?.kind !== 'file') return undefined;
    if (!before) return this.#judgeNew(baseline, lines);
    if (before.kind === 'other') return unknown(before.reason);
    if (now?.kind === 'other') return unknown(now.reason);
    if (now?.kind !== before.kind) return this.#judgeMissing(baseline, before, lines);
    if (before.kind === 'folder' || lines === undefined)
      return { verdict: 'fresh', now: this.#place(lines) };
    if (baseline.cut) return unknown('the clone is shallow, and the record may be older than it');
    if (isSame(before, now)) {
      return (
        this.#beyond(this.#path, lines, this.#now?.bytes) ?? {
          verdict: 'fresh',
          now: this.#place(lines),
        }
      );
    }
    if (before.kind !== 'file') return undefined;
    return this.#compare(before.oid, this.#path, this.#now?.bytes, lines);
  }

  /** Compares a place with the fingerprint that the record has of it. */
  #judgeGiven(baseline: Baseline, given: GivenEvidence): Judgement {
    const now = this.#now?.entry;
    if (now?.kind === 'other') return unknown(now.reason);
    if (now) return this.#find(given, this.#path, this.#now);
    const committed = this.#code.at(this.#head, this.#path);
    if (committed) return { verdict: 'gone', uncommitted: true };
    const before = this.#code.at(baseline.commit, this.#path);
    const path =
      before?.kind === 'file'
        ? this.#renames.find(baseline.commit, this.#path, before.oid)
        : this.#renames.followed(this.#path);
    const renamed = path === undefined ? undefined : this.#renamed(path);
    if (path === undefined || renamed?.entry.kind !== 'file') return { verdict: 'gone' };
    const found = this.#find(given, path, renamed);
    return found.verdict === 'fresh' ? { ...found, verdict: 'moved' } : found;
  }

  /** Finds the text of given evidence in a file, which is read only if there is a text. */
  #find(given: GivenEvidence, path: string, file: CodeFile | undefined): Judgement {
    const { lines, symbol, fingerprint } = given;
    if (!fingerprint) return { verdict: 'fresh', now: { path, lines } };
    const bytes = file?.bytes;
    const text = this.#textOf(path, bytes);
    if (!(text instanceof SpanText)) return unknown(text);
    const here = symbol === undefined ? lines : findSymbol(bytes?.toString('utf8') ?? '', symbol);
    const match = text.locate(fingerprint, here ?? { first: 1, last: 1 });
    if (match.verdict !== 'changed') {
      return { verdict: match.verdict, now: { path, lines: match.lines } };
    }
    return {
      verdict: 'changed',
      uncommitted: this.#headHas(fingerprint),
      lost: { fingerprint, path, bytes },
    };
  }

  /** Whether HEAD has the text that the work tree no longer has. */
  #headHas(fingerprint: Fingerprint): boolean {
    const entry = this.#code.at(this.#head, this.#path);
    const text = entry?.kind === 'file' ? this.#code.text(entry.oid) : undefined;
    if (!(text instanceof SpanText)) return false;
    return text.locate(fingerprint, { first: 1, last: 1 }).verdict !== 'changed';
  }

  /** A file that the baseline does not have. */
  #judgeNew(baseline: Baseline, lines: Lines | undefined): Judgement | undefined {
    if (!this.#now) return undefined;
    if (!this.#code.at(this.#head, this.#path)) return unknown('it is not committed yet');
    if (baseline.cut && lines) return unknown('the clone is shallow');
    if (lines) return unknown('it was committed after the record');
    return { verdict: 'fresh', now: this.#place(undefined) };
  }

  #judgeMissing(baseline: Baseline, before: CodeEntry, lines: Lines | undefined): Judgement {
    const uncommitted = isSame(before, this.#code.at(this.#head, this.#path));
    if (before.kind !== 'file') return { verdict: 'gone', uncommitted };
    const path = this.#renames.find(baseline.commit, this.#path, before.oid);
    const renamed = path === undefined ? undefined : this.#renamed(path);
    if (path === undefined || renamed?.entry.kind !== 'file')
      return { verdict: 'gone', uncommitted };
    if (lines === undefined || baseline.cut || renamed.entry.oid === before.oid) {
      return { verdict: 'moved', now: { path, lines } };
    }
    const judged = this.#compare(before.oid, path, renamed.bytes, lines);
    return judged.verdict === 'fresh' ? { ...judged, verdict: 'moved' } : judged;
  }

  /** The file to which this one was renamed. */
  #renamed(path: string): ReturnType<ProjectCode['now']> {
    if (!this.#others.has(path)) this.#others.set(path, this.#code.now(path, this.#head));
    return this.#others.get(path);
  }

  #textOf(path: string, bytes: Buffer | undefined): CodeText {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const text = bytes ? toText(bytes) : 'it is not in the work tree';
    this.#texts.set(path, text);
    return text;
  }

  #compare(blob: Oid, path: string, bytes: Buffer | undefined, lines: Lines): Judgement {
    const now = this.#textOf(path, bytes);
    const before = this.#past.get(blob) ?? this.#code.text(blob);
    this.#past.set(blob, before);
    if (!(before instanceof SpanText)) return unknown(before);
    if (!(now instanceof SpanText)) return unknown(now);
    const span = before.fingerprint(lines);
    if (!span) {
      const isBeyond = lines.last > before.lineCount;
      const beyond = isBeyond ? this.#beyond(path, lines, bytes) : undefined;
      if (beyond) return beyond;
      return unknown(isBeyond ? `it had only ${before.lineCount} lines` : 'its lines were blank');
    }
    const match = now.locate(span, lines);
    if (match.verdict !== 'changed') {
      return { verdict: match.verdict, now: { path, lines: match.lines } };
    }
    const uncommitted = isSame({ kind: 'file', oid: blob }, this.#code.at(this.#head, this.#path));
    return {
      verdict: 'changed',
      uncommitted,
      lost: { fingerprint: span, path, bytes, blob },
    };
  }

  /** The verdict about lines beyond the end of a text; undefined if the file has them, or is not a text. */
  #beyond(path: string, lines: Lines, bytes: Buffer | undefined): Judgement | undefined {
    if (!this.#lengths.has(path)) this.#lengths.set(path, bytes && lengthOf(bytes));
    const length = this.#lengths.get(path);
    if (length === undefined || lines.last <= length) return undefined;
    return { verdict: 'beyond', reason: `which has ${length} lines` };
  }

  #place(lines: Lines | undefined): CodePlace {
    return { path: this.#path, lines };
  }
}

/** The number of lines of a text; undefined for a binary file. */
function lengthOf(bytes: Buffer): number | undefined {
  if (isBinary(bytes)) return undefined;
  let count = bytes.length > 0 && bytes.at(-1) !== 0x0a ? 1 : 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}

function unknown(reason: string): Judgement {
  return { verdict: 'unknown', reason };
}

function isSame(a: CodeEntry | undefined, b: CodeEntry | undefined): boolean {
  if (a?.kind !== b?.kind) return false;
  return a?.kind !== 'file' || b?.kind !== 'file' || a.oid === b.oid;
}
