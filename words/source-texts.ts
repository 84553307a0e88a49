import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Languages of Debian's translated descriptions, as its archive names them. */
const languages = ['de', 'fr', 'es', 'pt', 'pt_BR', 'zh_CN', 'ja'];
/** Limits of one text, in characters: a longer one repeats itself. */
const longestSummary = 400;
const longestDescription = 1500;

/** A text to learn from; with `original`, a translation of that text. */
export interface SourceText {
  readonly text: string;
  readonly original?: string;
}

/** A file of the folder, and its checksum. */
export interface SourceFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Reads the texts of a folder, in a fixed order, each distinct summary once. */
export class SourceTexts {
  readonly files: SourceFile[] = [];
  readonly #folder: string;
  readonly #seen = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  *[Symbol.iterator](): Generator<SourceText> {
    // The place of the summary in a line, after the name.
    yield* this.#packages('npm.tsv', 3);
    yield* this.#packages('pypi.tsv', 4);
    yield* this.#packages('nuget.tsv', 3);
    const originals = new Map<string, string>();
    for (const { id, text } of this.#descriptions('en')) {
      originals.set(id, text);
      if (this.#isNew(text)) yield { text };
    }
    for (const language of languages) {
      for (const { id, text } of this.#descriptions(language)) {
        const original = originals.get(id);
        if (original !== undefined && text !== original) yield { text, original };
      }
    }
  }

  *#packages(file: string, column: number): Generator<SourceText> {
    for (const line of this.#read(file).split('\n').slice(1)) {
      const fields = line.split('\t');
      const summary = (fields[column] ?? '').replace(/^\[tested here:[^\]]*\]\s*/, '');
      const text = summary.slice(0, longestSummary);
      if (text.length > 10 && this.#isNew(text)) yield { text: `${fields[0]} ${text}` };
    }
  }

  /** The descriptions of a `Translation` file of Debian, by the checksum of the English one. */
  *#descriptions(language: string): Generator<{ readonly id: string; readonly text: string }> {
    for (const entry of this.#read(`Translation-${language}`).split('\n\n')) {
      const [, id] = /^Description-md5: (\w+)$/m.exec(entry) ?? [];
      const [, text] = /^Description-\w+: ([\s\S]*)/m.exec(entry.replace(/^.*md5: .*$/m, '')) ?? [];
      if (id !== undefined && text !== undefined) {
        yield { id, text: text.slice(0, longestDescription) };
      }
    }
  }

  /** Whether no text like this was read before: texts that differ in digits count as one. */
  #isNew(text: string): boolean {
    const key = text.toLowerCase().replace(/\d+/g, '0');
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  #read(name: string): string {
    const path = join(this.#folder, name);
    if (!existsSync(path)) throw new Error(`The folder has no ${name}; see docs/meaning.md.`);
    const bytes = readFileSync(path);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.files.push({ name, bytes: bytes.length, sha256 });
    return bytes.toString('utf8');
  }
}
