import { afterCommit } from '../memory/after-commit.ts';
import { similarField } from '../memory/hit-form.ts';
import type { Located } from '../memory/listing.ts';
import { leastLikeness, type SimilarRecord } from '../memory/store.ts';
import { formatAddress } from '../names/record-address.ts';
import type { RecordType } from '../record/record-type.ts';
import type { Context } from './context.ts';

/** The tools by which one of two records that say the same replaces the other, or is removed. */
const replacing = 'verify_memory';
const removing = 'forget_memory';

/**
 * Makes the part of an answer about the records that say nearly the same as a written one; a note says what
 * to do about the likest one.
 *
 * @param section the path of the section that was written; undefined for the whole record.
 */
export async function reportSimilar<T extends object>(
  context: Context,
  type: RecordType<T>,
  written: Pick<Located<T>, 'path' | 'value'>,
  section?: string,
) {
  const read = () => context.store.similar(type, written, section);
  const similar = await afterCommit(context, read, []);
  const [first] = similar;
  if (first) {
    const own = addressOf({ path: written.path, section });
    const note = await afterCommit(context, () => noteOf(context, own, first), undefined);
    if (note !== undefined) context.note(note);
  }
  return similarField(similar);
}

async function noteOf(context: Context, own: string, similar: SimilarRecord): Promise<string> {
  const other = addressOf(similar);
  const tools = await context.toolNames();
  const [now, old] = [JSON.stringify(own), JSON.stringify(other)];
  return [
    `${old} ${similar.likeness < leastLikeness ? 'has the same subject' : 'says nearly the same'}.`,
    ...(tools.has(replacing)
      ? [`To replace it: ${replacing} with path ${now} and supersedes [${old}].`]
      : []),
    ...(tools.has(removing)
      ? [`To keep only that one: correct it, and ${removing} with record ${now}.`]
      : []),
  ].join(' ');
}

function addressOf({ path, section }: { path: string; section?: string | undefined }): string {
  return section === undefined ? path : formatAddress({ path, section });
}
