import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../../src/store/secrets/kinds.ts';
import { findSecrets } from '../../src/store/secrets/scan.ts';
import { corpus } from '../support/corpus.ts';
import { credentials, nearMisses, type Sample } from '../support/credentials.ts';
import { count, ms, Times } from './figures.ts';
import { report, table } from './report.ts';

/** The samples are made up anew so many times, each time from other random numbers. */
const rounds = 100;

function share(make: (seed: number) => Sample[]): { found: number; all: number; kinds: number } {
  const samples = Array.from({ length: rounds }, (_, seed) => make(seed + 1)).flat();
  const found = samples.filter(({ text }) => findSecrets(text).length > 0).length;
  return { found, all: samples.length, kinds: samples.length / rounds };
}

function corpusFiles(): string[] {
  if (corpus === undefined) return [];
  const folder = corpus;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'));
}

async function cost(text: string): Promise<string> {
  const times = new Times();
  for (let i = 0; i < 300; i++) await times.measure(() => findSecrets(text));
  return ms(times.median);
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(2)} %`;

const found = share(credentials);
const alarms = share(nearMisses);
const files = corpusFiles();
const inCorpus = files.filter((text) => findSecrets(text).length > 0).length;
const prose = readFileSync('docs/tools.md', 'utf8').slice(0, 10_000);
const code = readFileSync('package-lock.json', 'utf8').slice(0, 10_000);

report('secrets', 'Secrets', [
  `The guard knows ${kinds.length} kinds by their form, and whatever is called a password, key or token by how random it is. The labelled set is made up at run time from random numbers, ${rounds} times: ${found.kinds} credentials and ${alarms.kinds} near misses (hashes, UUIDs, images, examples of manuals, placeholders). The corpus is memory banks and rule files of public repositories.`,
  table(
    ['', 'texts', 'refused', 'share'],
    [
      ['credentials', count(found.all), count(found.found), percent(found.found, found.all)],
      ['near misses', count(alarms.all), count(alarms.found), percent(alarms.found, alarms.all)],
      ...(files.length === 0
        ? []
        : [['corpus', count(files.length), count(inCorpus), percent(inCorpus, files.length)]]),
    ],
  ),
  table(
    ['10 kB of', 'median, ms'],
    [
      ['prose', await cost(prose)],
      ['hashes and URLs (`package-lock.json`)', await cost(code)],
    ],
  ),
]);
