import { MemoryError } from '../values/error.ts';

/**
 * Reads something for the answer of a change that is committed already: an error, also of a call that was
 * cancelled, must not look as if nothing had been written.
 *
 * @param otherwise is answered if it cannot be read; a note says why.
 */
export async function afterCommit<T>(
  context: { note(text: string): void },
  read: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const why = error instanceof MemoryError ? error.text : abortReason(error);
    if (why === undefined) throw error;
    context.note(`The change is committed, but a part of the answer is missing: ${why}`);
    return otherwise;
  }
}

function abortReason(thrown: unknown): string | undefined {
  const isAbort = thrown instanceof Error && thrown.name === 'AbortError';
  return isAbort ? 'The caller cancelled the call.' : undefined;
}
