import type { ExchangeFormat } from '../../core/declarations/exchange-format.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { readBundle } from './concept-reader.ts';
import { recordFolder, writeBundle } from './concept-writer.ts';

/** A bundle of the Open Knowledge Format 0.2: a folder of markdown files with front matter. */
export function knowledgeBundle(types: readonly AnyRecordType[]): ExchangeFormat {
  return {
    name: 'okf',
    title: 'a bundle of the Open Knowledge Format, with every record',
    places: [],
    // A bundle of another program looks like any folder of markdown.
    recognises: (_name, entries) =>
      entries.includes('index.md') && entries.includes(`${recordFolder}/`),
    read: (source) => readBundle(types, source),
    write: (memory) => writeBundle(types, memory),
  };
}
