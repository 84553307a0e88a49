import { rmSync } from 'node:fs';
import type { GivenEvidence } from '../../src/core/evidence/annotations.ts';
import { SpanText } from '../../src/core/evidence/span.ts';
import type { Random } from '../support/random.ts';
import type { Repo } from '../support/repo.ts';

export const lengths = [1, 3, 5, 8];
const code = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|swift|sh)$/;
const tests = /(?:^|\/)(?:tests?|__tests__|spec|fixtures)\/|[._-](?:test|spec)\.|(?:^|\/)test_/;

export interface Span {
  readonly path: string;
  readonly first: number;
  readonly last: number;
  /** Its lines, trimmed and without blank ones. */
  readonly text: readonly string[];
}

export type Truth =
  | { readonly verdict: 'fresh' | 'changed' | 'gone' | 'ambiguous' }
  | { readonly verdict: 'moved'; readonly place: string };

const trimmed = (lines: readonly string[]) => lines.map((line) => line.trim()).filter(Boolean);

/** Two commits of a repository, compared by native git and by plain text. */
export class History {
  readonly repo: Repo;
  readonly #old: string;
  readonly #head: string;
  readonly #files = new Map<string, readonly string[] | undefined>();
  readonly #renames = new Map<string, string>();
  readonly #blobs: ReadonlyMap<string, string>;

  constructor(repo: Repo, old: string, head: string) {
    [this.repo, this.#old, this.#head] = [repo, old, head];
    this.#blobs = new Map(
      [old, head].flatMap((commit) =>
        repo
          .git('ls-tree', '-r', '-z', commit)
          .split('\0')
          .flatMap((line) => {
            const [, blob, path] = /^\d+ blob (\w+)\t(.*)$/s.exec(line) ?? [];
            return blob && path ? [[`${commit}:${path}`, blob] as const] : [];
          }),
      ),
    );
    this.#followRenames();
  }

  /** Follows each file through the commits of the first parents, and otherwise compares both ends. */
  #followRenames(): void {
    const options = ['-M50%', '-l0', '--diff-filter=R', '--name-status'];
    const renamed = (text: string) =>
      text.split('\n').flatMap((line) => {
        const [, from, to] = /^R\d+\t(.*)\t(.*)$/.exec(line) ?? [];
        return from && to ? [[from, to] as const] : [];
      });
    const range = `${this.#old}..${this.#head}`;
    const log = ['log', '--first-parent', '-m', '--reverse', '--format=', ...options, range];
    const origins = new Map<string, string>();
    for (const [from, to] of renamed(this.repo.git(...log))) {
      origins.set(to, origins.get(from) ?? from);
      origins.delete(from);
    }
    const isNow = (path: string) => this.#blobs.has(`${this.#head}:${path}`);
    for (const [to, from] of origins) if (isNow(to)) this.#renames.set(from, to);
    for (const [from, to] of renamed(this.repo.git('diff', ...options, this.#old, this.#head))) {
      if (!this.#renames.has(from)) this.#renames.set(from, to);
    }
  }

  get paths(): string[] {
    return [...this.#blobs.keys()].flatMap((key) =>
      key.startsWith(`${this.#old}:`) ? [key.slice(this.#old.length + 1)] : [],
    );
  }

  #lines(commit: string, path: string): readonly string[] | undefined {
    const key = `${commit}:${path}`;
    if (!this.#files.has(key)) {
      const text = this.#blobs.has(key) ? this.repo.git('show', key) : undefined;
      this.#files.set(key, text?.replace(/\n$/, '').split('\n'));
    }
    return this.#files.get(key);
  }

  spans(random: Random, wanted: number): Span[] {
    const paths = this.paths.filter((path) => code.test(path) && !tests.test(path));
    const spans: Span[] = [];
    for (
      let tries = 0;
      paths.length > 0 && spans.length < wanted && tries < 100 * wanted;
      tries++
    ) {
      const path = paths[random.below(paths.length)] ?? '';
      const lines = this.#lines(this.#old, path) ?? [];
      const length = lengths[random.below(lengths.length)] ?? 1;
      if (lines.length < length || /[^\w./-]/.test(path)) continue;
      const first = 1 + random.below(lines.length - length + 1);
      const last = first + length - 1;
      const text = trimmed(lines.slice(first - 1, last));
      if (text.length > 0) spans.push({ path, first, last, text });
    }
    return spans;
  }

  truth({ path, first, last, text }: Span): Truth {
    const at = this.#blobs.has(`${this.#head}:${path}`) ? path : this.#renames.get(path);
    if (at === undefined) return { verdict: 'gone' };
    const lines = this.#lines(this.#head, at) ?? [];
    const here = trimmed(lines.slice(first - 1, last)).join('\n') === text.join('\n');
    if (here && lines.length >= last) {
      return at === path
        ? { verdict: 'fresh' }
        : { verdict: 'moved', place: `${at}:${first}-${last}` };
    }
    const kept = lines.flatMap((line, i) =>
      line.trim() ? [{ line: line.trim(), at: i + 1 }] : [],
    );
    const found = kept.flatMap((_, i) =>
      text.every((line, k) => kept[i + k]?.line === line)
        ? [`${at}:${kept[i]?.at}-${kept[i + text.length - 1]?.at}`]
        : [],
    );
    const [place] = found;
    if (place === undefined) return { verdict: 'changed' };
    return found.length === 1 ? { verdict: 'moved', place } : { verdict: 'ambiguous' };
  }

  /** Whether the rules "hash of the file" and "path and lines" say that a span is stale. */
  otherRules({ path, first, last, text }: Span): {
    readonly hash: boolean;
    readonly lines: boolean;
  } {
    const [old, head] = [this.#old, this.#head].map((commit) =>
      this.#blobs.get(`${commit}:${path}`),
    );
    const lines = this.#lines(this.#head, path) ?? [];
    const same = trimmed(lines.slice(first - 1, last)).join('\n') === text.join('\n');
    return { hash: old !== head, lines: !same };
  }

  /** A span as the program stores it, from the old commit. */
  evidence({ path, first, last }: Span): GivenEvidence {
    const text = new SpanText((this.#lines(this.#old, path) ?? []).join('\n'));
    const lines = { first, last };
    return { path, lines, fingerprint: text.fingerprint(lines) };
  }

  /** The markdown files of the old commit, of a size that a record can have. */
  texts(random: Random, wanted: number): string[] {
    const all = this.paths.filter(
      (path) => path.endsWith('.md') && !path.startsWith('.memory-bank/'),
    );
    const texts: string[] = [];
    while (texts.length < wanted && all.length > 0) {
      const [path = ''] = all.splice(random.below(all.length), 1);
      const text = this.#lines(this.#old, path)?.join('\n') ?? '';
      if (text.length < 200_000 && !text.includes('\0')) texts.push(text);
    }
    return texts;
  }

  /** The files of the old commit that a text names, found by a rule of its own. */
  mentions(text: string): string[] {
    const words = text.match(/[\w@./-]+/g) ?? [];
    const paths = words.map((word) => word.replace(/^\.\//, '').replace(/[.:]+$/, ''));
    return [...new Set(paths)].filter(
      (path) => path.includes('/') && this.#blobs.has(`${this.#old}:${path}`),
    );
  }

  /** The truth about a file as a whole. */
  fileTruth(path: string): Truth {
    if (this.#blobs.has(`${this.#head}:${path}`)) return { verdict: 'fresh' };
    const to = this.#renames.get(path);
    return to === undefined ? { verdict: 'gone' } : { verdict: 'moved', place: to };
  }

  /** Commits records to a branch at the old commit, and merges it into HEAD. */
  remember(records: ReadonlyMap<string, string>): void {
    const { repo } = this;
    const tree = (commit: string) => {
      repo.git('read-tree', '--reset', commit);
      repo.git('rm', '-rq', '--cached', '--ignore-unmatch', '.memory-bank');
      repo.git('add', '-f', '.memory-bank');
      return repo.git('write-tree').trim();
    };
    rmSync(repo.path('.memory-bank'), { recursive: true, force: true });
    for (const [path, text] of records) repo.write(`.memory-bank/${path}`, text);
    const commit = (tree: string, ...parents: string[]) =>
      repo
        .git('commit-tree', tree, '-m', 'Remember', ...parents.flatMap((one) => ['-p', one]))
        .trim();
    const side = commit(tree(this.#old), this.#old);
    const merged = commit(tree(this.#head), this.#head, side);
    repo.git('reset', '-q', '--hard', merged);
  }
}
