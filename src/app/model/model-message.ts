import * as z from 'zod';

/** The parts of a model's message that are read; the others are sent back unchanged. */
export const modelMessage = z.looseObject({
  role: z.literal('assistant').default('assistant'),
  content: z.string().nullable().default(null),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string(),
        type: z.literal('function'),
        function: z.object({ name: z.string(), arguments: z.string() }),
      }),
    )
    .nullish()
    .transform((calls) => calls ?? []),
});

export type ModelMessage = z.output<typeof modelMessage>;
