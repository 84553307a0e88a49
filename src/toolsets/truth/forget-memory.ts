import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { defineOperation } from '../../core/declarations/tool.ts';
import { entryNamed, listEntries, withoutLines } from '../../core/markdown/list-entries.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import { afterCommit } from '../../core/memory/after-commit.ts';
import type { Transaction } from '../../core/memory/store.ts';
import { linkedTo, missing } from '../../core/memory/supersede.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addressOf, decisionLogs } from './decision-evidence.ts';

interface ForgetRequest {
  readonly record: string;
  readonly section?: string | undefined;
  readonly reason: string;
}

interface Forgotten {
  /** The addresses of what was removed, with what was derived from it. */
  readonly removed: readonly string[];
  /** The records that no longer say that they were replaced, or that they replace it. */
  readonly released: readonly string[];
  /** Records that still name it. */
  readonly linked: readonly string[];
  /** The address to restore, and the commit that still has it. */
  readonly restore: { readonly path: string; readonly revision: string } | undefined;
}

/** Limit of the commits by others among which that of the removal is looked for. */
const maxMeanwhile = 20;

/** The logs of the project, which are not removed as a whole. */
const logs: readonly string[] = [...decisionLogs, 'progress.md', 'activeContext.md'];

/** The file with a line of progress, and the one with its copy. */
const copies: ReadonlyMap<string, string> = new Map([
  ['progress.md', 'activeContext.md'],
  ['activeContext.md', 'progress.md'],
]);

const record = z.string().min(1).max(1000);
const section = z.string().min(1).max(2000);
const reason = z.string().regex(/\S/, 'must not be blank').max(10_000);

/** Where a credential is purged from the history. */
const purge =
  'A credential has to be changed, and purged from the history: see SECURITY.md, "A credential that got into the history".';

export const forgetMemory = defineOperation({
  name: 'forget_memory',
  title: 'Forget a memory',
  description:
    'Forget what is wrong or no longer true: remove a record or one line of a log, with what was derived from it; the history keeps it. By key: memory_delete. Still right: verify_memory.',
  effect: 'destroy',
  input: z.object({
    record: record.describe('Its path'),
    section: section.optional().describe('Heading or line of the one entry'),
    reason: reason,
  }),
  run: forget,
  answer({ removed, released, linked, restore }) {
    return {
      removed: [...removed],
      ...(released.length > 0 && { released: [...released] }),
      ...(linked.length > 0 && { linked: [...linked] }),
      kept: `The history keeps it. ${waysBack(restore)}`,
      ...(restore && { restore: { ...restore } }),
    };
  },
  command: {
    name: 'forget',
    about: 'remove a record, or one entry of a log; the history keeps it',
    operands: ['record', 'section?'],
    input: z.object({
      record: record.transform(pastedPath).meta({ title: 'record' }),
      section: section.optional().meta({ title: 'section' }),
      reason: reason.describe('why it is removed, for the history'),
    }),
    show: ({ removed, released, linked, restore }, painter) => [
      ...removed.map((one) => painter.paint('bad', `removed ${one}`)),
      ...released.map((one) => painter.plain(`changed ${one}, which named it`)),
      ...linked.map((one) => painter.plain(`${one} still names it`)),
      ...(restore
        ? [
            painter.plain(
              `The history keeps it: memory-bank restore ${JSON.stringify(restore.path)} --as-of ${restore.revision}`,
            ),
          ]
        : []),
      purge,
    ],
  },
});

function waysBack(restore: Forgotten['restore']): string {
  return restore ? `restore_memory with these arguments brings it back. ${purge}` : purge;
}

async function forget(context: Context, request: ForgetRequest): Promise<Forgotten> {
  const given = parseAddress(await addressOf(context, pastedPath(request.record)));
  const { path, section = request.section } = given;
  const { address, restorable, removed, released } = await context.store.change<Removal>(
    ({ address }) => ({ subject: `forget ${address}`, reason: request.reason }),
    (transaction) =>
      section === undefined
        ? forgetRecord(transaction, path)
        : forgetEntry(transaction, path, section),
  );
  const revision = await afterCommit(context, () => stateBefore(context, path), undefined);
  return {
    removed,
    released,
    linked: await linkedTo(context, [address]),
    restore: revision === undefined ? undefined : { path: restorable, revision },
  };
}

/** The removed parts, and the changes of others that follow from it. */
interface Removal extends Pick<Forgotten, 'removed' | 'released'> {
  readonly address: string;
  /** The address by which the history brings it back. */
  readonly restorable: string;
}

async function forgetRecord(transaction: Transaction, path: string): Promise<Removal> {
  if ((await transaction.text(path)) === undefined) throw missing(path);
  if (!path.endsWith('.md')) {
    throw new MemoryError('invalid_input', `${path} is not a text.`, {
      hint: 'A record of the graph is removed by its own tool, such as delete_feature, with what belongs to it; a rule file by a person.',
    });
  }
  if (logs.includes(path)) {
    throw new MemoryError('invalid_input', `${path} is a log of many entries.`, {
      hint: 'Give section: the heading or the line of the entry to remove.',
    });
  }
  const released = await release(transaction, path);
  if (!(await transaction.forget(path))) throw missing(path);
  return { address: path, restorable: path, removed: [path], released };
}

async function forgetEntry(
  transaction: Transaction,
  path: string,
  wanted: string,
): Promise<Removal> {
  const text = await transaction.text(path);
  if (text === undefined) throw missing(path);
  const sections = new Sections(path, text);
  const found = sections.find(wanted);
  const address = found && sections.addressOf(found);
  if (address === path) return forgetRecord(transaction, path);
  if (found && address !== undefined) {
    const released = await release(transaction, address);
    await transaction.rewrite(path, (now) => {
      const own = new Sections(path, now);
      return withoutLines(now, own.at(wanted));
    });
    return { address, restorable: address, removed: [address], released };
  }
  const entry = entryNamed(text, wanted);
  if (!entry) {
    // Fails with the names of the nearest sections.
    sections.at(wanted);
    throw missing(path);
  }
  await transaction.rewrite(path, (now) => withoutLines(now, entry));
  const removed = [`${path}: ${entry.text}`];
  const copy = copies.get(path);
  if (copy !== undefined && (await removeCopy(transaction, copy, entry.text))) {
    removed.push(`${copy}: ${entry.text}`);
  }
  return { address: `a line of ${path}`, restorable: path, removed, released: [] };
}

/** Removes the copy of a line in another log; returns whether it had one. */
async function removeCopy(transaction: Transaction, path: string, line: string): Promise<boolean> {
  const text = await transaction.text(path);
  const copy = text && listEntries(text).find((entry) => entry.text === line);
  if (!copy) return false;
  await transaction.rewrite(path, (now) => withoutLines(now, copy));
  return true;
}

/** Ends the statements of other records that they replace a record, or were replaced by it. */
async function release(transaction: Transaction, address: string): Promise<readonly string[]> {
  const own = await transaction.annotations(address);
  if (!own) throw missing(address);
  const released: string[] = [];
  for (const old of own.supersedes) {
    const { supersededBy } = (await annotationsOf(transaction, old)) ?? {};
    if (supersededBy !== address) continue;
    await transaction.annotate(old, { supersededBy: null });
    released.push(old);
  }
  const later = own.supersededBy;
  const { supersedes = [] } = (later && (await annotationsOf(transaction, later))) || {};
  if (later !== undefined && supersedes.includes(address)) {
    const rest = supersedes.filter((one) => one !== address);
    await transaction.annotate(later, { supersedes: rest });
    released.push(later);
  }
  return released;
}

/** The annotations of a record that may be gone. */
async function annotationsOf(transaction: Transaction, address: string) {
  try {
    return await transaction.annotations(address);
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** The commit before the session's last change of a record, which has what that removed. */
async function stateBefore(
  { history, session }: Context,
  path: string,
): Promise<string | undefined> {
  const { entries } = await history.log({ path, revision: 'HEAD', limit: maxMeanwhile, skip: 0 });
  const last = entries.find(({ commit }) => commit.session === session.id);
  return last && `${last.commit.oid.slice(0, 12)}~1`;
}
