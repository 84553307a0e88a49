import { MemoryError } from '../../src/core/values/error.ts';

/** One parser, and what has to be true of it for every input. */
export interface Target {
  /** Inputs to start from. */
  seeds(): Buffer[];
  /** What means something to the parser. */
  readonly words: readonly string[];
  /**
   * Runs it; whatever it throws but a MemoryError is a finding.
   *
   * @returns what became of the input, coarsely, to tell where mutations lead somewhere new.
   */
  run(input: Buffer): string;
}

/** Fails the run: something that has to hold does not. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** What a call throws when it throws what it may. */
export function attempt<T>(work: () => T): T | MemoryError {
  try {
    return work();
  } catch (error) {
    if (error instanceof MemoryError) return error;
    throw error;
  }
}

/** How large a number is, coarsely. */
export const size = (n: number) => Math.ceil(Math.log2(n + 1));
