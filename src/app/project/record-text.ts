import type { Context } from '../../core/declarations/context.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { readMemoryFile } from './project-file.ts';

/**
 * Returns the text of a record as it is on disk.
 *
 * @throws MemoryError `not_found`.
 */
export async function recordText(context: Context, path: string): Promise<string> {
  return (await recordTexts(context))(path);
}

/** Returns the same for many records: the project is looked at once. */
export async function recordTexts({ project }: Context): Promise<(path: string) => string> {
  const { folder, root } = await project.site();
  return (path) => {
    const bytes = readMemoryFile(root, folder, path);
    if (bytes === undefined) throw new MemoryError('not_found', `${path} is gone.`);
    return bytes.toString('utf8');
  };
}

/** A new text of a record. */
export interface EditedText {
  /** The text that the person began with. */
  readonly before: string;
  readonly after: string;
  readonly reason: string | undefined;
}

/**
 * Commits the new text of a record, unless the record was changed since its text was read.
 *
 * @param record its key is undefined where the file could not be read as a record.
 * @throws MemoryError `conflict` for a record that was changed meanwhile, `damaged` for a text that is
 *   not a record of its type, `invalid_input` for one with another key.
 */
export async function saveText(
  context: Context,
  record: {
    readonly type: AnyRecordType;
    readonly path: string;
    readonly key: string | undefined;
  },
  { before, after, reason }: EditedText,
): Promise<void> {
  const { type, path, key } = record;
  const value = type.codec.decode(after, path);
  if (key !== undefined && type.key(value) !== key) {
    throw new MemoryError(
      'invalid_input',
      `The text makes "${key}" the record "${type.key(value)}".`,
      {
        hint: 'An edit keeps the key. Create the other record and delete this one.',
      },
    );
  }
  const why = { subject: `edit ${path}`, ...(reason !== undefined && { reason }) };
  await context.store.change(why, async (transaction) => {
    if (key !== undefined) await transaction.get(type, key);
    if ((await recordText(context, path)) !== before) {
      throw new MemoryError('conflict', `${path} was changed while it was edited.`, {
        hint: `Nothing was saved. "memory-bank log ${path}" shows the change.`,
      });
    }
    if (key === undefined) await transaction.repair(path, after);
    else await transaction.put(type, value, after);
  });
}
