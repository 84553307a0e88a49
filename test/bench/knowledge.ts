import { fanOutPath, fullFolder } from '../../src/store/records/fan-out.ts';
import { entryRecord, type KnowledgeEntry } from '../../src/toolsets/knowledge/entry.ts';

/** A knowledge entry of a typical size. */
export function entry(i: number, text: string): KnowledgeEntry {
  const time = new Date(1_700_000_000_000 + i * 1000).toISOString();
  return {
    category: 'project-learnings',
    key: `learning-${i}`,
    value: `${text} ${i}.\n${'What was learnt here is said in about four lines of text. '.repeat(5)}\n`,
    reason: 'It will be wanted again',
    created_at: time,
    updated_at: time,
  };
}

/** Path that the store gives to the record with this number. */
export function placeOf(i: number, value: KnowledgeEntry): string {
  const path = entryRecord.path(value);
  return `.memory-bank/${i < fullFolder ? path : fanOutPath(path)}`;
}

/** Files of the entries with these numbers. */
export function* entries(from: number, to: number): Generator<[path: string, text: string]> {
  for (let i = from; i < to; i++) {
    const value = entry(i, 'First');
    yield [placeOf(i, value), entryRecord.codec.encode(value)];
  }
}
