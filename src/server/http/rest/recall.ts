import type { App } from '../../../app/app.ts';
import type { CallOptions } from '../../../app/session/call-context.ts';
import { hitText } from '../../../core/memory/hit-form.ts';
import type { Session } from '../../../core/memory/session.ts';

/** A piece of the memory, and the file that contains it. */
export interface RecalledPassage {
  readonly file: string;
  readonly text: string;
}

/** The limit of passages that answer a question. */
const maxPassages = 8;

/** The limits of the text that the model gets, in all and of each file, in characters. */
const maxText = 32_000;
const maxFileText = 8_000;

/** Finds the passages that match a question best, among those that the session's mode may read. */
export function findPassages(
  app: App,
  session: Session,
  question: string,
  options: CallOptions,
): Promise<RecalledPassage[]> {
  return app.run(session, 'chat', options, async ({ store }) => {
    // A search without a word is an error, and a question may contain none.
    if (!/[\p{L}\p{N}]/u.test(question)) return [];
    const { hits } = await store.search({ query: question.slice(0, 1_000), limit: maxPassages });
    return hits.map((hit) => ({ file: hit.path, text: hitText(hit) }));
  });
}

/** Reads the files of the memory, the core files first, up to the limits for the model. */
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

/** Makes an answer of passages alone, and says so in its first words. */
export function extract(passages: readonly RecalledPassage[]): string {
  if (passages.length === 0) return 'Based on the Memory Bank, nothing in it matches the question.';
  const found = passages.map(({ file, text }) => `${file}:\n${text.trim()}`);
  return `Based on the Memory Bank, these passages match the question best:\n\n${found.join('\n\n')}`;
}
