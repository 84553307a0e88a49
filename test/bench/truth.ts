import { basename } from 'node:path';
import { withAnnotations } from '../../src/core/evidence/annotations.ts';
import type { EvidenceFinding } from '../../src/core/evidence/verdict.ts';
import { Session } from '../../src/core/memory/session.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { aboutCode } from '../support/findings.ts';
import { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';
import { count, ms, Times } from './figures.ts';
import { entry } from './knowledge.ts';
import { openMemory } from './memory.ts';
import { report, table } from './report.ts';
import { History, lengths, type Span } from './truth-history.ts';
import { speed } from './truth-speed.ts';

/**
 * Compares the verdicts about spans of code with the truth, which native git and a plain comparison of
 * lines find out. `npm run bench -- truth [repository...]`; without one, the project's own history. `--list`
 * prints the wrong verdicts, `--texts` compares texts only, `--score` leaves out the times, and `--speed`
 * everything else.
 */

const records = 1000;
const spansOfRecord = 2;
/** Limit of the texts of one repository. */
const maxTexts = 300;
/** Ages of the old commits, as shares of the history. */
const ages = [0.1, 0.3, 0.6];
/** Files vanish slowly, so that texts are also taken from the beginning of a history. */
const textAges = [...ages, 0.9];

/** Records that rest on the spans: every other one has them as given evidence. */
function recordsAbout(history: History, spans: readonly Span[]): ReadonlyMap<string, string> {
  return new Map(
    Array.from({ length: records }, (_, i) => {
      const own = spans.slice(i * spansOfRecord, (i + 1) * spansOfRecord);
      const text = own.map(({ path, first, last }) => `It rests on ${path}:${first}-${last}.`);
      const given = i % 2 === 1;
      const value = entry(i, given ? 'It rests on code' : text.join('\n'));
      const path = entryRecord.path(value);
      const encoded = entryRecord.codec.encode(value);
      const evidence = own.map((span) => history.evidence(span));
      return [path, given ? withAnnotations(path, encoded, { evidence }) : encoded] as const;
    }),
  );
}

async function check(repo: Repo, times: { readonly cold: Times; readonly warm: Times }) {
  const start = performance.now();
  const workspace = await openMemory(repo, 'relaxed');
  const session = new Session(() => 'bench');
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

/** A clone of a repository, and its commit of some age. */
function open(source: string, age: number) {
  const repo = new Repo();
  repo.git('clone', '-q', '--shared', source, '.');
  repo.git('config', 'user.name', 'Ada Lovelace');
  repo.git('config', 'user.email', 'ada@example.org');
  const commits = repo.git('rev-list', '--first-parent', 'HEAD').trim().split('\n');
  const back = Math.round(age * (commits.length - 1));
  const [head = '', old = ''] = [commits[0], commits[back]];
  return { repo, back, history: new History(repo, old, head) };
}

/** Scores the verdicts about the files that the markdown texts of a repository name by themselves. */
async function measureTexts(source: string, name: string, age: number): Promise<string[]> {
  const { repo, back, history } = open(source, age);
  const texts = history.texts(new Random(back), maxTexts);
  const pathOf = (i: number) => `texts/${i}.md`;
  history.remember(new Map(texts.map((text, i) => [pathOf(i), text])));
  const { records: found } = await check(repo, { cold: new Times(), warm: new Times() });
  const byRecord = new Map(found.map(({ path, findings }) => [path, aboutCode(findings)]));
  const tally = { places: 0, stale: 0, told: 0, right: 0, moved: 0, placed: 0, alarms: 0 };
  const hash = { alarms: 0, wrong: 0 };
  for (const [i, text] of texts.entries()) {
    const findings = byRecord.get(pathOf(i)) ?? [];
    const named = new Set(history.mentions(text));
    // A place that only the program finds is also compared with the truth.
    for (const { verdict, evidence } of findings) {
      if (isStale(verdict) && evidence.lines === undefined) named.add(evidence.path);
    }
    for (const path of named) {
      const own = findings.filter(({ evidence }) => evidence.path === path);
      // A text may name lines of the file only: of these, the fate of the file counts.
      const finding =
        own.find(({ evidence }) => evidence.lines === undefined) ??
        own.find(({ verdict }) => verdict === 'gone' || verdict === 'moved');
      const truth = history.fileTruth(path);
      const [stale, told] = [isStale(truth.verdict), isStale(finding?.verdict ?? 'none')];
      tally.places += 1;
      tally.stale += Number(stale);
      tally.told += Number(told);
      tally.right += Number(stale && told);
      tally.alarms += Number(told && !stale);
      if (truth.verdict === 'moved') {
        tally.moved += 1;
        tally.placed += Number(finding?.verdict === 'moved' && finding.now?.path === truth.place);
      }
      if (stale !== told && process.argv.includes('--list')) console.log(path, truth, finding);
      const other = history.otherRules({ path, first: 1, last: 1, text: [] });
      hash.alarms += Number(other.hash);
      hash.wrong += Number(other.hash && !stale);
    }
  }
  repo.remove();
  return [
    `${name}, ${count(back)} commits`,
    `${count(texts.length)} / ${count(tally.places)}`,
    percent(tally.stale, tally.places),
    percent(tally.right, tally.told),
    percent(tally.right, tally.stale),
    percent(tally.placed, tally.moved),
    percent(tally.alarms, tally.places - tally.stale),
    percent(hash.wrong, hash.alarms),
  ];
}

async function measure(source: string, name: string, age: number): Promise<string[] | undefined> {
  const { repo, back, history } = open(source, age);
  const spans = history.spans(new Random(back), records * spansOfRecord);
  if (spans.length === 0) {
    repo.remove();
    return undefined;
  }
  history.remember(recordsAbout(history, spans));
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
const textRows: string[][] = [];
const onlyTexts = process.argv.includes('--texts');
for (const source of sources) {
  const name = given.length > 0 ? basename(source) : 'this project';
  for (const age of onlyTexts ? [] : ages) {
    const row = await measure(source, name, age);
    if (row) rows.push(row);
  }
  for (const age of textAges) textRows.push(await measureTexts(source, name, age));
}
const times = onlyTexts || process.argv.includes('--score') ? [] : await speed();
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
  `Markdown texts of the old commits, written as records as they are, with the files that they name in
their sentences. The truth is whether HEAD has the file, or git has renamed it; the last column is the share of false alarms of
a rule that compares a hash of the file.`,
  table(
    [
      'history',
      'texts / places',
      'gone',
      'precision',
      'recall',
      'moved, right path',
      'intact, called stale',
      'false alarms by file hash',
    ],
    textRows,
  ),
  'In a repository of 10,000 records that name 20,000 spans in 2,000 files, in milliseconds, median and 95th percentile:',
  table(['operation', 'ms'], times),
]);
