import { rmSync } from 'node:fs';
import { type GivenEvidence, withAnnotations } from '../../src/core/evidence/annotations.ts';
import { SpanText } from '../../src/core/evidence/span.ts';
import type { EvidenceFinding } from '../../src/core/evidence/verdict.ts';
import { Session } from '../../src/core/session.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { aboutCode } from '../support/findings.ts';
import { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';
import { count, ms, Times } from './figures.ts';
import { entry } from './knowledge.ts';
import { openMemory } from './memory.ts';
import { report, table } from './report.ts';
import { speed } from './truth-speed.ts';

/**
 * Compares the verdicts about spans of code with the truth, which native git and a plain comparison of
 * lines find out. `npm run bench -- truth [repository...]`; without one, the project's own history. `--list`
 * prints the wrong verdicts, `--score` leaves out the times, and `--speed` everything else.
 */

const records = 1000;
const spansOfRecord = 2;
const lengths = [1, 3, 5, 8];
/** Ages of the old commits, as shares of the history. */
const ages = [0.1, 0.3, 0.6];
const code = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|swift|sh)$/;
const tests = /(?:^|\/)(?:tests?|__tests__|spec|fixtures)\/|[._-](?:test|spec)\.|(?:^|\/)test_/;

interface Span {
  readonly path: string;
  readonly first: number;
  readonly last: number;
  /** Its lines, trimmed and without blank ones. */
  readonly text: readonly string[];
}

type Truth =
  | { readonly verdict: 'fresh' | 'changed' | 'gone' | 'ambiguous' }
  | { readonly verdict: 'moved'; readonly place: string };

const trimmed = (lines: readonly string[]) => lines.map((line) => line.trim()).filter(Boolean);

class History {
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
    while (spans.length < wanted) {
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
  #evidence({ path, first, last }: Span): GivenEvidence {
    const text = new SpanText((this.#lines(this.#old, path) ?? []).join('\n'));
    const lines = { first, last };
    return { path, lines, fingerprint: text.fingerprint(lines) };
  }

  /** Commits records to a branch at the old commit, and merges it into HEAD. */
  remember(spans: readonly Span[]): void {
    const { repo } = this;
    const tree = (commit: string) => {
      repo.git('read-tree', '--reset', commit);
      repo.git('rm', '-rq', '--cached', '--ignore-unmatch', '.memory-bank');
      repo.git('add', '-f', '.memory-bank');
      return repo.git('write-tree').trim();
    };
    rmSync(repo.path('.memory-bank'), { recursive: true, force: true });
    for (let i = 0; i < records; i++) {
      const own = spans.slice(i * spansOfRecord, (i + 1) * spansOfRecord);
      const text = own.map(({ path, first, last }) => `It rests on ${path}:${first}-${last}.`);
      // Every other record has its places as given evidence.
      const given = i % 2 === 1;
      const value = entry(i, given ? 'It rests on code' : text.join('\n'));
      const path = entryRecord.path(value);
      const encoded = entryRecord.codec.encode(value);
      const evidence = own.map((span) => this.#evidence(span));
      repo.write(
        `.memory-bank/${path}`,
        given ? withAnnotations(path, encoded, { evidence }) : encoded,
      );
    }
    const commit = (tree: string, ...parents: string[]) =>
      repo
        .git('commit-tree', tree, '-m', 'Remember', ...parents.flatMap((one) => ['-p', one]))
        .trim();
    const side = commit(tree(this.#old), this.#old);
    const merged = commit(tree(this.#head), this.#head, side);
    repo.git('reset', '-q', '--hard', merged);
  }
}

async function check(repo: Repo, times: { readonly cold: Times; readonly warm: Times }) {
  const start = performance.now();
  const workspace = await openMemory(repo, 'relaxed');
  const session = new Session('bench');
  const signal = new AbortController().signal;
  const binding = { session, tool: 'bench', signal, onCommit() {}, progress() {} };
  const found = await workspace.bind(binding).history.evidence({});
  times.cold.add(performance.now() - start);
  await times.warm.measure(() => workspace.bind(binding).history.evidence({}));
  await workspace.close();
  return found;
}

const isStale = (verdict: string) => verdict === 'changed' || verdict === 'gone';
const percent = (part: number, whole: number) =>
  whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)}%`;

async function measure(source: string, name: string, age: number): Promise<string[]> {
  const repo = new Repo();
  repo.git('clone', '-q', '--shared', source, '.');
  repo.git('config', 'user.name', 'Ada Lovelace');
  repo.git('config', 'user.email', 'ada@example.org');
  const commits = repo.git('rev-list', '--first-parent', 'HEAD').trim().split('\n');
  const back = Math.round(age * (commits.length - 1));
  const [head = '', old = ''] = [commits[0], commits[back]];
  const history = new History(repo, old, head);
  const spans = history.spans(new Random(back), records * spansOfRecord);
  history.remember(spans);
  const times = { cold: new Times(), warm: new Times() };
  const { records: found } = await check(repo, times);
  const verdicts = new Map<string, EvidenceFinding>();
  for (const finding of found.flatMap(({ findings }) => aboutCode(findings))) {
    const { path, lines } = finding.evidence;
    verdicts.set(`${path}:${lines?.first}-${lines?.last}`, finding);
  }
  const tally = { stale: 0, told: 0, right: 0, moved: 0, placed: 0, intact: 0, alarms: 0 };
  const rules = { hash: 0, hashFalse: 0, lines: 0, linesFalse: 0 };
  for (const span of spans) {
    const truth = history.truth(span);
    const finding = verdicts.get(`${span.path}:${span.first}-${span.last}`);
    const stale = isStale(truth.verdict);
    const told = isStale(finding?.verdict ?? 'none');
    tally.stale += Number(stale);
    tally.told += Number(told);
    tally.right += Number(stale && told);
    tally.intact += Number(!stale);
    tally.alarms += Number(told && !stale);
    if (truth.verdict === 'moved') {
      const now = finding?.now;
      tally.moved += 1;
      const place = `${now?.path}:${now?.lines?.first}-${now?.lines?.last}`;
      tally.placed += Number(finding?.verdict === 'moved' && place === truth.place);
    }
    if (stale !== told && process.argv.includes('--list')) console.log(span, truth, finding);
    const other = history.otherRules(span);
    rules.hash += Number(other.hash);
    rules.hashFalse += Number(other.hash && !stale);
    rules.lines += Number(other.lines);
    rules.linesFalse += Number(other.lines && !stale);
  }
  repo.remove();
  return [
    `${name}, ${count(back)} commits`,
    percent(tally.stale, spans.length),
    percent(tally.right, tally.told),
    percent(tally.right, tally.stale),
    percent(tally.placed, tally.moved),
    percent(tally.alarms, tally.intact),
    percent(rules.hashFalse, rules.hash),
    percent(rules.linesFalse, rules.lines),
    `${ms(times.cold.median)} / ${ms(times.warm.median)}`,
  ];
}

const given = process.argv.slice(2).filter((one) => !one.startsWith('-'));
const onlySpeed = process.argv.includes('--speed');
const sources = onlySpeed ? [] : given.length > 0 ? given : [process.cwd()];
const rows: string[][] = [];
for (const source of sources) {
  const name = given.length > 0 ? (source.split('/').findLast(Boolean) ?? source) : 'this project';
  for (const age of ages) rows.push(await measure(source, name, age));
}
const times = process.argv.includes('--score') ? [] : await speed();
report('truth', 'Memories and the code that they name', [
  `${count(records * spansOfRecord)} spans of ${lengths.join(', ')} lines of code at an old commit, on which ${count(records)} records rest that are
written there and checked at HEAD: half of the spans are in the text, the others are given evidence. The truth
comes from \`git show\`, the renames of \`git log -M50%\` and \`git diff -M50%\`, and a plain comparison of lines. Stale is a span whose text was changed or removed. The last columns are the share of false alarms among
all alarms of a rule that compares a hash of the file, and of one that compares the same lines; and the time of
the check in milliseconds, by a new process and again.`,
  table(
    [
      'history',
      'stale',
      'precision',
      'recall',
      'moved, right lines',
      'intact, called stale',
      'false alarms by file hash',
      'false alarms by lines',
      'check',
    ],
    rows,
  ),
  'In a repository of 10,000 records that name 20,000 spans in 2,000 files, in milliseconds, median and 95th percentile:',
  table(['operation', 'ms'], times),
]);
