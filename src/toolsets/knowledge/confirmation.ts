import * as z from 'zod';
import { MemoryError } from '../../core/values/error.ts';

/** Whether the user agreed: only the boolean `true` counts. */
export const confirm = z.boolean().catch(false);

/**
 * Refuses a call that the user has not agreed to.
 *
 * Seed 004 requires this for decisions, `memory_delete` and `memory_prune`.
 *
 * @throws MemoryError `confirmation_required`.
 */
export function requireConfirmation(confirmed: boolean | undefined, message: string): void {
  if (confirmed === true) return;
  throw new MemoryError('confirmation_required', message, {
    hint: 'Ask the user, then repeat the call with confirm: true.',
  });
}
