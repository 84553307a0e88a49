import type { Context } from '../../core/declarations/context.ts';

/** The phases of an import, each with the part of the whole that it takes: from and to. */
const phases = {
  reading: [0, 0.2],
  checking: [0.2, 0.3],
  writing: [0.3, 1],
} as const;

/** The whole, as callers see it. */
const steps = 1000;

/**
 * The progress of one import, as one number that never decreases, also when a step is repeated.
 *
 * The number of records is known only after the source was read, so it is not the number reported.
 */
export class ImportProgress {
  readonly #context: Pick<Context, 'progress' | 'signal'>;
  #done = 0;

  constructor(context: Pick<Context, 'progress' | 'signal'>) {
    this.#context = context;
  }

  /**
   * Reports which share of a phase is done, from 0 to 1.
   *
   * @throws the reason of the signal if the caller has cancelled the import.
   */
  show(phase: keyof typeof phases, share: number, message: string): void {
    this.#context.signal.throwIfAborted();
    const [from, to] = phases[phase];
    const done = Math.floor((from + (to - from) * (share || 0)) * steps);
    // The last step reports the end.
    this.#done = Math.max(this.#done, Math.min(done, steps - 1));
    this.#context.progress(this.#done, steps, message);
  }

  end(): void {
    this.#context.progress(steps, steps, 'done');
  }
}
