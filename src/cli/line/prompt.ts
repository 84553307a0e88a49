import { createInterface } from 'node:readline/promises';
import { MemoryError } from '../../core/values/error.ts';
import type { FlagValues } from './command.ts';

/** Whether to ask: stdin is a terminal, and `--yes` is not given. */
export function mayAsk(values: FlagValues): boolean {
  return process.stdin.isTTY === true && values.yes !== true;
}

/**
 * Asks a question in the terminal and returns the answer.
 *
 * @throws MemoryError `cancelled` when Ctrl-C or Ctrl-D is the answer.
 */
export async function question(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Without a signal, the question would wait for ever after Ctrl-D or when the terminal closes.
  const closed = new AbortController();
  lines.once('close', () => closed.abort());
  try {
    return (await lines.question(text, { signal: closed.signal })).trim();
  } catch (cause) {
    // The next message starts on its own line.
    process.stderr.write('\n');
    throw new MemoryError('cancelled', 'It was cancelled; nothing was changed.', { cause });
  } finally {
    lines.close();
  }
}

/** Asks a question and returns whether the answer is yes. */
export async function agrees(text: string): Promise<boolean> {
  return /^y(es)?$/i.test(await question(`${text} [y/N] `));
}

/**
 * Returns whether to make the changes that were shown: by `--yes`, or by the answer of a person.
 *
 * @throws MemoryError `confirmation_required` where there is neither.
 */
export async function mayGoOn(values: FlagValues, text: string): Promise<boolean> {
  if (values.yes === true) return true;
  if (mayAsk(values)) return agrees(text);
  throw new MemoryError('confirmation_required', 'Nothing was changed.', {
    hint: 'Give --yes to go on.',
  });
}
