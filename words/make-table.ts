import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WordTable, wordTableFile } from '../src/store/search/meaning/word-table.ts';
import { associations } from './association-matrix.ts';
import { decompose } from './decomposition.ts';
import { SourceTexts } from './source-texts.ts';
import { readTokens } from './token-stream.ts';

/** The number of words that a file of two megabytes has room for. */
const mostWords = 36_000;
const target = join('words', 'software.words');

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: npm run words -- <folder of texts>; see docs/meaning.md.');
  process.exit(2);
}
const texts = new SourceTexts(folder);
const stream = readTokens(texts, mostWords);
const total = stream.counts.reduce((sum, count) => sum + count, 0);
console.error(`words: ${stream.words.length} words, ${total} uses`);
const vectors = decompose(associations(stream));
const pieces = wordTableFile(
  stream.words,
  stream.counts.map((count) => count / total),
  vectors,
);
const bytes = Buffer.concat(pieces);
writeFileSync(target, bytes);
const { id } = WordTable.read(bytes) ?? {};
console.log(`${target}: ${stream.words.length} words, ${bytes.length} bytes, id ${id}`);
for (const { name, bytes, sha256 } of texts.files) console.log(`${sha256}  ${bytes}  ${name}`);
