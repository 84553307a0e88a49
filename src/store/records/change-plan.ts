import type { Author } from '../../core/memory/session.ts';
import type { Provenance } from '../../core/memory/store.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import type { FileChange } from '../../git/commit/commit-plan.ts';
import type { SecretGuard, TextChange } from '../secrets/guard.ts';
import { type Actor, commitMessage } from './message.ts';

/** A change of the memory as a value: the commit that it will be, before anything is written. */
export interface ChangePlan {
  /** The whole message of the commit, subject first. */
  readonly message: string;
  /** Paths relative to the top of the work tree. */
  readonly changes: readonly FileChange[];
  readonly author: Author | undefined;
}

/** The origin of a change, and the rules for it. */
export interface ChangeRules {
  /** Called only for a change that changes something. */
  readonly why: () => Provenance;
  readonly actor: Actor;
  readonly guard: Pick<SecretGuard, 'checkChange'>;
  /** The memory folder, relative to the top of the work tree; empty if it is the top. */
  readonly folder: string;
  /** Returns the changes of the files that the changed records are stored in; undefined if these are the same. */
  readonly stored?: ((edits: readonly TextChange[]) => readonly TextChange[]) | undefined;
  /** Changes of how records are stored, which leave the records as they are. */
  readonly converted?: readonly TextChange[];
  /** Returns the type of the record at a path of the memory; undefined for any other file. */
  typeOf(path: string): AnyRecordType | undefined;
}

/**
 * Plans the commit of a change. It reads neither the disk nor the repository.
 *
 * @param edits with paths relative to the memory folder.
 * @returns undefined if there is nothing to change.
 * @throws MemoryError `secret` for a credential in a file, in its name or in the message.
 */
export function planChange(
  edits: readonly TextChange[],
  { why, actor, guard, folder, stored, converted = [], typeOf }: ChangeRules,
): ChangePlan | undefined {
  if (edits.length + converted.length === 0) return undefined;
  const paths = (edits.length > 0 ? edits : converted).map(({ path }) => path);
  const records = paths.filter((path) => typeOf(path));
  const provenance = why();
  // A commit without records, as the first one of an empty memory, names its files.
  const message = commitMessage(provenance, records.length > 0 ? records : paths, actor);
  guard.checkChange(edits, provenance, message, typeOf);
  const changes = [...(stored?.(edits) ?? edits), ...converted].map(({ path, before, after }) => ({
    path: folder === '' ? path : `${folder}/${path}`,
    bytes: after === undefined ? undefined : Buffer.from(after, 'utf8'),
    seen: before === undefined ? undefined : Buffer.from(before, 'utf8'),
  }));
  return { message, changes, author: actor.author };
}
