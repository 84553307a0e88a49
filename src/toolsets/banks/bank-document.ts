import { z } from 'zod';
import { type Codec, markdownCodec } from '../../core/codec.ts';
import { defineRecordType } from '../../core/record-type.ts';
import { bankTypes, folders } from './bank-type.ts';

/** The folder of all banks. */
const folder = 'banks';

/** What the server keeps above the text of a document; a value that cannot be right counts as absent. */
const front = z.object({
  /** The bank's id, where the name of its folder is not the id itself. */
  bank: z.string().optional().catch(undefined),
  /** When the server last changed the text: ISO 8601, UTC. */
  last_updated: z.iso.datetime().optional().catch(undefined),
  /** How many times the server has written the text. */
  version: z.int().min(0).optional().catch(undefined),
  /** How much the updates of the document have mattered: 0 to 1. */
  relevance_score: z.number().min(0).max(1).optional().catch(undefined),
  body: z.string(),
});

/** The front matter keys that nobody but the server writes. */
export const serverKeys = ['bank', 'last_updated', 'version', 'relevance_score'] as const;

const schema = front.extend({
  /** Where it lies below `banks/`: `code/my-repo/doc/api.md`. */
  key: z.string(),
});

/** A markdown file of a bank (seed 001, "Memory Bank Structure"). */
export type BankDocument = z.infer<typeof schema>;

const written = markdownCodec(front, 'body');

/**
 * Markdown whose front matter may be absent: a file that a person made is served as it is, and gets
 * its front matter with the first update.
 */
const codec: Codec<BankDocument> = {
  encode({ key: _, ...content }, previous) {
    if (previous !== undefined && frontMatter(previous) !== undefined) {
      return written.encode(content, previous);
    }
    const bare = serverKeys.every((name) => content[name] === undefined);
    return bare && frontMatter(content.body) === undefined ? content.body : written.encode(content);
  },
  decode(text, path) {
    const key = path.slice(folder.length + 1);
    if (frontMatter(text) === undefined) return { key, body: text };
    return { key, ...written.decode(text, path) };
  },
};

/** A document of a bank: identified by its place, since a person may add one by hand. */
export const bankDocument = defineRecordType<BankDocument>({
  name: 'bank-document',
  toolset: 'banks',
  folder,
  extension: '.md',
  schema,
  codec,
  fanOut: false,
  key: (value) => value.key,
  path: (value) => `${folder}/${value.key}`,
  locate: (key) => `${folder}/${key}`,
  search({ key, body }) {
    const type = bankTypes.find((candidate) => key.startsWith(`${folders[candidate]}/`));
    return { title: key, body, ...(type ? { type } : {}) };
  },
  merge: { last_updated: 'latest', version: 'max', relevance_score: 'max', body: 'sections' },
});

/**
 * The lines of the front matter that a text begins with, or undefined.
 *
 * A text may begin with `---` and mean a rule: it is front matter only when the first line that says
 * anything is a key, or when it closes at once.
 */
export function frontMatter(text: string): string | undefined {
  const found = /^\ufeff?---[ \t]*\r?\n((?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
  if (found === undefined) return undefined;
  const first = found.split('\n').find((line) => !/^\s*(#.*)?$/.test(line));
  return first === undefined ? (found === '' ? '' : undefined) : isKey(first) ? found : undefined;
}

/** A key, or the conflict that keeps the keys from being read. */
function isKey(line: string): boolean {
  return /^(?:<{7} |(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:\s|$))/.test(line);
}
