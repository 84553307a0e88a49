import { readFileSync } from 'node:fs';
import { entryRecord, type KnowledgeEntry } from '../../src/toolsets/knowledge/entry.ts';
import { Random } from '../support/random.ts';
import { placeOf } from './knowledge.ts';

const seed = 20_261;
const sentencesOfRecord = 16;
const categories = ['project-learnings', 'patterns', 'decisions', 'corrections'] as const;

const things =
  `checkout basket invoice order product price stock supplier return complaint customer account
  session form page button list table dialog menu report chart export import upload picture label printer
  scanner depot van driver tour stop parcel pallet route map address street postcode region holiday calendar
  shift employee salary contract message mail notification webhook event queue job worker scheduler cache
  database migration column index query transaction lock backup log metric alert dashboard test fixture
  release branch ticket review build container cluster secret token key certificate limit budget currency tax
  refund coupon discount gift survey rating comment search filter`.split(/\s+/);
const parts =
  `service module handler controller view template component screen helper script endpoint table
  file folder setting client server library test page`.split(/\s+/);
const actions =
  `reads writes creates updates deletes checks sends receives counts sorts groups prints shows
  hides copies moves renames formats validates converts loads stores starts stops retries logs`.split(
    /\s+/,
  );
const times =
  `after a restart, before each release, on the first of a month, when the network is slow, while a
  user waits, in the night run, once an hour, after a failed attempt, when two people work at once, if the disk
  is full, for new customers, in the test environment`
    .split(',')
    .map((time) => time.replace(/\s+/g, ' ').trim());
const causes =
  `the provider answers late, the old format has no version, users complained about it, a number was
  too large, the list had no limit, nobody knew the address, the time zone was wrong, an error was hidden, the
  first try was too slow, the name means something else here, two copies differed, the page did not load`
    .split(',')
    .map((cause) => cause.replace(/\s+/g, ' ').trim());

/** The labelled entries of an imaginary parcel service. */
const labelled = readFileSync('test/fixtures/search/entries.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map(
    (line): Record<'group' | 'key' | 'value' | 'reason' | 'context', string> => JSON.parse(line),
  );

/** Makes long knowledge entries about a parcel service; the labelled ones begin with their own text. */
export function* longRecords(count: number): Generator<[path: string, text: string]> {
  const random = new Random(seed);
  const one = (words: readonly string[]) => words[random.below(words.length)] ?? '';
  const sentence = (thing: string) => {
    const other = one(things);
    const kinds = [
      `The ${thing} ${one(parts)} ${one(actions)} the ${other} ${one(parts)} ${one(times)}.`,
      `We changed the ${other} ${one(parts)} of the ${thing} because ${one(causes)}.`,
      `A ${other} without a ${one(things)} is not an error ${one(times)}.`,
      `It ${one(actions)} at most ${random.below(90) + 2} of them, and ${one(actions)} the rest ${one(times)}.`,
      `See the ${thing} ${one(parts)} for the ${other}, which ${one(actions)} every ${one(things)}.`,
    ];
    return one(kinds);
  };
  const apart = Math.floor(count / labelled.length);
  for (let i = 0; i < count; i++) {
    const known = i % apart === 0 ? labelled[i / apart] : undefined;
    const thing = one(things);
    const filler = Array.from({ length: sentencesOfRecord }, () => sentence(thing));
    const time = new Date(1_700_000_000_000 + i * 60_000).toISOString();
    const own = {
      category: one(categories) as KnowledgeEntry['category'],
      key: `${thing}-${one(parts)}-${i}`,
      value: `${filler.join(' ')}\n`,
    };
    const value: KnowledgeEntry = {
      ...own,
      ...(known && {
        category: known.group as KnowledgeEntry['category'],
        key: known.key,
        value: `${known.value}\n\n${own.value}`,
        ...(known.reason && { reason: known.reason }),
        ...(known.context && { context: known.context }),
      }),
      created_at: time,
      updated_at: time,
    };
    yield [placeOf(i, value), entryRecord.codec.encode(value)];
  }
}
