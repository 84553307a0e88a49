import { TextDiff } from '../../core/diff/unified-diff.ts';
import { type Fingerprint, formatFingerprint, SpanText } from '../../core/evidence/span.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import type { Steps } from '../records/slices.ts';
import type { CodeNow, Judged } from './judged-places.ts';
import type { LostText } from './judgement.ts';
import { type CommitGraph, keyedByPath, lastCommits } from './last-commits.ts';
import type { ProjectCode } from './project-code.ts';

/** Limit of the versions of files that one run reads to find the commits that changed a text. */
const maxVersions = 2000;
/** Limit of the versions that stay in memory meanwhile. */
const maxKnown = 500;
/** Limit of the differences that one run computes. */
const maxDiffs = 1000;
/** Limits of one difference. */
const maxLines = 40;
const maxLine = 200;

/** The commit and the difference that changed a place. */
export interface SpanChange {
  /** The commit that changed or removed the text, or the last one that changed its file. */
  readonly commit: Oid | undefined;
  /** Whether the commit changed the text itself, and not only its file. */
  readonly exact: boolean;
  /** The changed lines, in the unified format. */
  readonly diff: string | undefined;
}

/** Finds the commits that changed or removed places, and the differences of their lines. */
export function* spanChanges(
  odb: ObjectDatabase,
  { code, head, graph }: CodeNow,
  judged: readonly Judged[],
): Steps<ReadonlyMap<Judged, SpanChange>> {
  const lost = judged.filter(({ judgement }) => isLost(judgement.verdict));
  const committed = lost.filter(({ judgement }) => !judgement.uncommitted);
  const spans = new SpanHistory(graph, code, head);
  const exact = yield* spans.search(committed);
  const files = committed.filter((one) => !exact.has(one));
  const paths = new Set(files.map((one) => code.inTree(pathOf(one))));
  const last = yield* lastCommits(graph, head, keyedByPath(paths));
  const differ = new SpanDiffs(odb, code, head);
  const found = new Map<Judged, SpanChange>();
  for (const one of lost) {
    yield;
    const ending = exact.get(one);
    const file = last.get(code.inTree(pathOf(one)));
    found.set(one, {
      commit: one.judgement.uncommitted ? undefined : (ending?.commit ?? file?.commit),
      exact: one.judgement.verdict === 'gone' || ending !== undefined,
      diff: differ.diff(one, ending?.before),
    });
  }
  return found;
}

function isLost(verdict: string): boolean {
  return verdict === 'changed' || verdict === 'gone';
}

/** The path whose history says what became of a place. */
function pathOf({ reference, judgement }: Judged): string {
  return judgement.lost?.path ?? reference.path;
}

/** The commit that took a text away, and the content of the file before it. */
interface Ending {
  readonly commit: Oid;
  readonly before: Oid | undefined;
}

/** Searches the history for the commits after which files no longer have some texts. */
class SpanHistory {
  readonly #graph: CommitGraph<Oid>;
  readonly #code: ProjectCode;
  readonly #head: Oid;
  readonly #texts = new Map<Oid, SpanText | undefined>();
  #read = 0;

  constructor(graph: CommitGraph<Oid>, code: ProjectCode, head: Oid) {
    [this.#graph, this.#code, this.#head] = [graph, code, head];
  }

  *search(judged: readonly Judged[]): Steps<ReadonlyMap<Judged, Ending>> {
    const wanted = new Map<string, LostText>();
    const keyOf = ({ path, fingerprint }: LostText) => `${path} ${formatFingerprint(fingerprint)}`;
    for (const { judgement } of judged) {
      if (judgement.lost) wanted.set(keyOf(judgement.lost), judgement.lost);
    }
    const before = new Map<string, Oid>();
    const graph = this.#graph;
    const { limit } = graph;
    const isSpent = () => this.#read >= maxVersions;
    const ends = yield* lastCommits(
      {
        ...graph,
        get limit() {
          return isSpent() ? 0 : limit;
        },
        ignores: (change, key) => {
          const text = wanted.get(key);
          if (!text || !change.before || !change.after) return false;
          if (this.#has(change.after, text) || !this.#has(change.before, text)) return true;
          before.set(key, change.before);
          return false;
        },
      },
      this.#head,
      [...wanted].map(([key, { path }]) => [key, this.#code.inTree(path)] as const),
    );
    const found = new Map<Judged, Ending>();
    for (const one of judged) {
      const key = one.judgement.lost && keyOf(one.judgement.lost);
      const commit = key === undefined ? undefined : ends.get(key)?.commit;
      // A search that reaches the first commit has not found the text.
      if (key === undefined || commit === undefined || graph.parents(commit).length === 0) continue;
      found.set(one, { commit, before: before.get(key) });
    }
    return found;
  }

  #has(blob: Oid, { fingerprint }: LostText): boolean {
    if (!this.#texts.has(blob)) {
      if (this.#texts.size >= maxKnown) this.#texts.clear();
      const text = this.#code.text(blob);
      this.#texts.set(blob, text instanceof SpanText ? text : undefined);
      this.#read += 1;
    }
    return contains(this.#texts.get(blob), fingerprint) !== undefined;
  }
}

/** Shows how the lines of places have changed. */
class SpanDiffs {
  readonly #odb: ObjectDatabase;
  readonly #code: ProjectCode;
  readonly #head: Oid;
  #last: { readonly key: string; readonly now: Buffer; readonly diff: TextDiff } | undefined;
  #count = 0;

  constructor(odb: ObjectDatabase, code: ProjectCode, head: Oid) {
    [this.#odb, this.#code, this.#head] = [odb, code, head];
  }

  /** @param before the content of the file before the commit that took the text away. */
  diff(judged: Judged, before: Oid | undefined): string | undefined {
    const { reference, baseline, judgement } = judged;
    const { lost } = judgement;
    if (judgement.verdict === 'gone') return this.#removed(judged);
    if (!lost?.bytes || this.#count >= maxDiffs) return undefined;
    const blobs = new Set([
      lost.blob,
      this.#blobAt(baseline.commit, reference.path),
      judgement.uncommitted ? this.#blobAt(this.#head, lost.path) : undefined,
      before,
    ]);
    for (const blob of blobs) {
      const old = blob === undefined ? undefined : this.#code.text(blob);
      if (blob === undefined || !(old instanceof SpanText)) continue;
      const lines = contains(old, lost.fingerprint, reference.lines);
      if (!lines) continue;
      this.#count += 1;
      return shortened(
        this.#compare(blob, lost.path, lost.bytes).touching(lines.first, lines.last),
      );
    }
    return undefined;
  }

  /** The lines of a file that was removed, as they were. */
  #removed({ reference, baseline }: Judged): string | undefined {
    const blob = this.#blobAt(baseline.commit, reference.path);
    const { lines } = reference;
    if (blob === undefined || !lines || !(this.#code.text(blob) instanceof SpanText))
      return undefined;
    const { first, last } = lines;
    const all = this.#odb.content(blob, 'blob').toString('utf8').split('\n');
    const old = all.slice(first - 1, last).map((line) => `-${line.replace(/\r$/, '')}`);
    return shortened([`@@ -${first},${old.length} +0,0 @@`, ...old, ''].join('\n'));
  }

  #blobAt(commit: Oid, path: string): Oid | undefined {
    const entry = this.#code.at(commit, path);
    return entry?.kind === 'file' ? entry.oid : undefined;
  }

  /** The findings are grouped by file, so the last comparison is often the next one. */
  #compare(blob: Oid, path: string, now: Buffer): TextDiff {
    const key = `${blob} ${path}`;
    if (this.#last?.key !== key || this.#last.now !== now) {
      const before = this.#odb.content(blob, 'blob').toString('utf8');
      this.#last = { key, now, diff: new TextDiff(before, now.toString('utf8')) };
    }
    return this.#last.diff;
  }
}

function contains(
  text: SpanText | undefined,
  fingerprint: Fingerprint,
  near = { first: 1, last: 1 },
) {
  const match = text?.locate(fingerprint, near);
  return match && match.verdict !== 'changed' ? match.lines : undefined;
}

function shortened(diff: string): string | undefined {
  const lines = diff.split('\n').slice(0, -1);
  const shown = lines
    .slice(0, maxLines)
    .map((line) => (line.length > maxLine ? `${line.slice(0, maxLine)}…` : line));
  if (lines.length > maxLines) shown.push(`… ${lines.length - maxLines} more lines`);
  return shown.length === 0 ? undefined : `${shown.join('\n')}\n`;
}
