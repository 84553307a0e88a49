import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../../src/store/secrets/kinds.ts';
import { findSecrets } from '../../src/store/secrets/scan.ts';
import { corpus } from '../support/corpus.ts';
import { credentials, nearMisses, type Sample } from '../support/credentials.ts';
import { count, ms, Times } from './figures.ts';
import { labelledSets } from './labelled.ts';
import { report, table } from './report.ts';

/** Number of generated sample sets, each from other random numbers. */
const rounds = 100;

function share(make: (seed: number) => Sample[]): { found: number; all: number; kinds: number } {
  const samples = Array.from({ length: rounds }, (_, seed) => make(seed + 1)).flat();
  const found = samples.filter(({ text }) => findSecrets(text).length > 0).length;
  return { found, all: samples.length, kinds: samples.length / rounds };
}

/** Texts written by people, in which no credential is known. */
interface Collection {
  readonly title: string;
  /** By name. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Collects files; equal files count as one text. */
function filesOf(title: string, paths: readonly string[]): Collection {
  const names = new Map(paths.map((path) => [readFileSync(path, 'utf8'), path]));
  return { title, texts: new Map([...names].map(([text, path]) => [path, text])) };
}

function pathsBelow(folder: string, names = /./): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => names.test(name))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

function collections(): Collection[] {
  const own = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
  return [
    ...(corpus === undefined
      ? []
      : [filesOf('Memory and rule files of public repositories', pathsBelow(corpus))]),
    ...labelledSets().map(({ title, documents }) => ({
      title,
      texts: new Map(documents.map(({ id, fields }) => [id, Object.values(fields).join('\n\n')])),
    })),
    filesOf('Files of this project', own),
    filesOf('Markdown of its dependencies', pathsBelow('node_modules/', /\.md$/i)),
    filesOf(
      'Code and settings of its dependencies',
      pathsBelow('node_modules/', /\.(?:[cm]?[jt]s|json|ya?ml)$/),
    ),
  ];
}

async function cost(text: string): Promise<string> {
  const times = new Times();
  for (let i = 0; i < 300; i++) await times.measure(() => findSecrets(text));
  return ms(times.median);
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(2)} %`;

const found = share(credentials);
const misses = share(nearMisses);
const clean = collections().map(({ title, texts }) => {
  const refused = [...texts].flatMap(([name, text]) => {
    const [secret] = findSecrets(text);
    return secret ? [`\`${name}\` (${secret.kind})`] : [];
  });
  return { title, count: texts.size, refused };
});
const all = clean.reduce((sum, { count }) => sum + count, 0);
const alarms = clean.flatMap(({ refused }) => refused);
const prose = readFileSync('docs/tools.md', 'utf8').slice(0, 10_000);
const code = readFileSync('package-lock.json', 'utf8').slice(0, 10_000);

const row = (title: string, texts: number, refused: number) => [
  title,
  count(texts),
  count(refused),
  percent(refused, texts),
];

report('secrets', 'Secrets', [
  `The check knows ${kinds.length} kinds of credentials by their format, and rates the randomness of values that are called a password, key or token. The labelled set is generated at run time from random numbers, ${rounds} times: ${found.kinds} credentials and ${misses.kinds} near misses (hashes, UUIDs, images, examples from manuals, placeholders).`,
  table(
    ['', 'texts', 'refused', 'share'],
    [row('credentials', found.all, found.found), row('near misses', misses.all, misses.found)],
  ),
  'Texts written by people, without credentials; equal files count once:',
  table(
    ['', 'texts', 'refused', 'share'],
    [
      ...clean.map(({ title, count, refused }) => row(title, count, refused.length)),
      row('Total', all, alarms.length),
    ],
  ),
  alarms.length === 0 ? 'None is refused.' : `The false alarms: ${alarms.join(', ')}.`,
  table(
    ['10 kB of', 'median, ms'],
    [
      ['prose', await cost(prose)],
      ['hashes and URLs (`package-lock.json`)', await cost(code)],
    ],
  ),
]);
