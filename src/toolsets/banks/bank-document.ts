import * as z from 'zod';
import { type Codec, markdownCodec } from '../../core/record/codec.ts';
import { metadataOf, setMetadata } from '../../core/record/metadata-text.ts';
import { usualRoles } from '../../core/record/part-role.ts';
import { defineRecordType } from '../../core/record/record-type.ts';
import { bankTypes, folders } from './bank-type.ts';

/** The folder of all banks. */
const folder = 'banks';

/** Front matter that the server writes, and the text below it; an invalid value counts as absent. */
const front = z.object({
  /** The bank's id, if its folder has another name. */
  bank: z.string().optional().catch(undefined),
  /** When the server last changed the text: ISO 8601, UTC. */
  last_updated: z.iso.datetime().optional().catch(undefined),
  /** Number of times that the server has written the text. */
  version: z.int().min(0).optional().catch(undefined),
  /** Relevance of the updates to the document, 0 to 1. */
  relevance_score: z.number().min(0).max(1).optional().catch(undefined),
  body: z.string(),
});

/** The front matter keys that only the server writes. */
export const serverKeys = ['bank', 'last_updated', 'version', 'relevance_score'] as const;

const schema = front.extend({
  /** Path below `banks/`: `code/my-repo/doc/api.md`. */
  key: z.string(),
});

/** A markdown file of a bank (seed 001, "Memory Bank Structure"). */
export type BankDocument = z.infer<typeof schema>;

const written = markdownCodec(front, 'body');

/**
 * Markdown with optional front matter.
 *
 * A file that a person created is served as it is; the first update adds the front matter.
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
    const content = written.decode(text, path);
    const document = { key, ...content };
    setMetadata(document, metadataOf(content));
    return document;
  },
};

/** A document of a bank. Its path is its key, because a person may add files by hand. */
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
  locate: (key) => [`${folder}/${key}`],
  search({ key, body }) {
    const type = bankTypes.find((candidate) => key.startsWith(`${folders[candidate]}/`));
    return { title: key, body, markdown: true, ...(type ? { type } : {}) };
  },
  roles: usualRoles,
  merge: { last_updated: 'latest', version: 'max', relevance_score: 'max', body: 'sections' },
});

/**
 * Returns the lines of the front matter at the beginning of a text, or undefined.
 *
 * A `---` at the beginning can also be a thematic break. It opens front matter only if the first line
 * that is not blank or a comment is a key, or if the next line closes it.
 */
export function frontMatter(text: string): string | undefined {
  const found = /^\ufeff?---[ \t]*\r?\n((?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
  if (found === undefined) return undefined;
  const first = found.split('\n').find((line) => !/^\s*(#.*)?$/.test(line));
  return first === undefined ? (found === '' ? '' : undefined) : isKey(first) ? found : undefined;
}

/** Whether a line is a key, or a conflict marker in front of the keys. */
function isKey(line: string): boolean {
  return /^(?:<{7} |(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:\s|$))/.test(line);
}
