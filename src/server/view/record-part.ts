import type { Context } from '../../core/declarations/context.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';

/** A record, or a section of it, as a commit has it; without a text if it does not have it. */
export interface PartState {
  readonly commit: string;
  readonly text: string | undefined;
}

/** Reads a record, or a section of it, by its address. */
export async function partAt(
  context: Context,
  record: string,
  revision: string,
): Promise<PartState> {
  const { path, section } = parseAddress(record);
  const state = await context.history.at(revision);
  const commit = state.commit.oid;
  try {
    const { text } = await state.read(path);
    if (section === undefined) return { commit, text };
    const part = new Sections(path, text).find(section);
    // A section at the end of a file has no empty line after it.
    return { commit, text: part && text.slice(part.start, part.end).trimEnd() };
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found')
      return { commit, text: undefined };
    throw error;
  }
}
