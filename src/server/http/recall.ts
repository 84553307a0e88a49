import type { App } from '../../app/app.ts';
import type { CallOptions } from '../../app/call-context.ts';
import type { Session } from '../../core/session.ts';

/** A piece of the memory, and the file that it stands in. */
export interface RecalledPassage {
  readonly file: string;
  readonly text: string;
}

/** How many passages answer a question. */
const maxPassages = 8;

/** How much of the files the model is given at once, in characters, and how much of each. */
const maxText = 32_000;
const maxFileText = 8_000;

/** The passages of the memory that fit a question best, as far as the session's mode lets them be read. */
export function findPassages(
  app: App,
  session: Session,
  question: string,
  options: CallOptions,
): Promise<RecalledPassage[]> {
  return app.run(session, 'chat', options, async ({ store }) => {
    // A search for no word at all is an error, and a question may have none.
    if (!/[\p{L}\p{N}]/u.test(question)) return [];
    const { hits } = await store.search({ query: question.slice(0, 1_000), limit: maxPassages });
    return hits.map(({ path, snippet }) => ({ file: path, text: snippet }));
  });
}

/** The files of the memory bank, the core files first, as far as the model can be given them at once. */
export async function readFiles(
  app: App,
  session: Session,
  options: CallOptions,
): Promise<RecalledPassage[]> {
  const listed = await app.call(session, 'list_memory_bank_files', {}, options);
  const files = Array.isArray(listed?.body.files) ? listed.body.files : [];
  const passages: RecalledPassage[] = [];
  let left = maxText;
  for (const file of files.map(String)) {
    if (left <= 0) break;
    const reply = await app.call(session, 'read_memory_bank_file', { filename: file }, options);
    const text = String(reply?.body.content ?? '').slice(0, Math.min(maxFileText, left));
    left -= text.length;
    if (text.trim() !== '') passages.push({ file, text });
  }
  return passages;
}

/** An answer made of passages alone, which says what it is (3.21). */
export function extract(passages: readonly RecalledPassage[]): string {
  if (passages.length === 0) return 'Based on the Memory Bank, nothing in it fits the question.';
  const found = passages.map(({ file, text }) => `${file}:\n${text.trim()}`);
  return `Based on the Memory Bank, these passages fit the question best:\n\n${found.join('\n\n')}`;
}
