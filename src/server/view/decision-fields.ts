import * as z from 'zod';
import type { Decisions } from '../../core/memory/conflict.ts';

/** The path of a record, or of a field of it: `knowledge/patterns/tabs.md#value`. */
const address = z.string().min(1).max(2000);
const addresses = z.array(address).max(10_000).default([]);

/** The input of an operation that decides conflicts. */
export const decisionFields = {
  ours: addresses.describe(
    'Records, or fields of them, path#field, whose conflicts this side wins',
  ),
  theirs: addresses.describe('Records or fields whose conflicts the other side wins'),
  texts: z
    .record(address, z.string())
    .default({})
    .describe('Records or fields with a text of their own, instead of a side'),
  decided: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe(
      'The state of the conflicts that the person has seen; with others, nothing is merged',
    ),
};

const shape = z.object(decisionFields);

/** The decisions in the input of an operation. */
export function toDecisions({ ours, theirs, texts, decided }: z.output<typeof shape>): Decisions {
  return { ours, theirs, texts: new Map(Object.entries(texts)), decided };
}
