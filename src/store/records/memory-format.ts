import * as z from 'zod';
import { yamlCodec } from '../../core/record/codec.ts';
import { MemoryError } from '../../core/values/error.ts';

/** The version of the layout of a memory without settings that restrict. */
export const firstFormat = 1;

/**
 * The version of a memory with a setting that restricts, such as `review`. A program that does not know the
 * setting would write past it, so it must not write at all.
 */
export const restrictedFormat = 2;

/** The latest version that this program writes. */
export const formatVersion = restrictedFormat;

/** The first version of this program that writes a restricted memory. */
export const restrictedProgram = '1.1.0';

/** The keys of the settings that keep their meaning in every format. */
const header = z.object({
  format: z.int().min(1),
  project_id: z.uuid(),
  requires: z.string().max(40).optional().catch(undefined),
});

/** The part of the settings that every program can read, also of a later format. */
export type FormatHeader = z.output<typeof header>;

/** Reads only the header of the settings. */
export const headerCodec = yamlCodec(header);

/**
 * Refuses to write to a memory of a later format.
 *
 * @throws MemoryError `unsupported` that names the version of the program that is needed.
 */
export function checkWritten({
  format,
  requires,
}: Pick<FormatHeader, 'format' | 'requires'>): void {
  if (format <= formatVersion) return;
  const needed =
    requires !== undefined && /^\d[\w.+-]*$/.test(requires)
      ? `memory-bank ${requires} or later`
      : `a later version of memory-bank`;
  throw new MemoryError(
    'unsupported',
    `Writing to this memory needs ${needed}: it has format ${format}, and this program knows formats up to ${formatVersion}.`,
    { hint: 'Update memory-bank. Reading still works.', data: { format } },
  );
}
