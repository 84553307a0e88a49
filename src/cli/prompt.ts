import { createInterface } from 'node:readline/promises';
import { MemoryError } from '../core/error.ts';
import type { FlagValues } from './command.ts';

/** Whether there is a person to ask, who has not said `--yes`. */
export function mayAsk(values: FlagValues): boolean {
  return process.stdin.isTTY === true && values.yes !== true;
}

/**
 * What a person answers in the terminal.
 *
 * @throws MemoryError `cancelled` when Ctrl-C or Ctrl-D is the answer.
 */
export async function question(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // At Ctrl-D the question would wait for ever, and at the end of a closed terminal, too.
  const closed = new AbortController();
  lines.once('close', () => closed.abort());
  try {
    return (await lines.question(text, { signal: closed.signal })).trim();
  } catch (cause) {
    // What is told next begins a line of its own.
    process.stderr.write('\n');
    throw new MemoryError('cancelled', 'It was cancelled; nothing was changed.', { cause });
  } finally {
    lines.close();
  }
}

/** Whether the answer to a question is yes. */
export async function agrees(text: string): Promise<boolean> {
  return /^y(es)?$/i.test(await question(`${text} [y/N] `));
}

/**
 * Whether to go on with what was shown: `--yes`, or the answer of a person.
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
