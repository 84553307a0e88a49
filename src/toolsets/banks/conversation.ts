import type { Context } from '../../core/declarations/context.ts';
import { timestamp } from '../../core/declarations/context.ts';
import { sessionKey } from '../../core/memory/session.ts';
import { toMemoryError } from '../../core/values/error.ts';
import { type Bank, type BankName, storeOf } from './bank.ts';

/** State of a session's work with its banks. */
interface Conversation {
  /** The bank that was activated or swapped to last. */
  active: string | undefined;
  /** Banks that the session only reads. */
  readonly temporary: Set<string>;
  /** Number of updates so far, by conversation. */
  readonly updates: Map<string, number>;
}

const state = sessionKey<Conversation>('banks', () => ({
  active: undefined,
  temporary: new Set(),
  updates: new Map(),
}));

/** Returns whether a bank is the session's active one, and whether the session only reads it. */
export function statusInSession(
  context: Context,
  name: BankName,
): { readonly active: boolean; readonly temporary: boolean } {
  const { active, temporary } = context.session.get(state);
  return { active: active === nameKey(name), temporary: temporary.has(nameKey(name)) };
}

/** Makes a bank the session's active one. */
export function enter(context: Context, name: BankName, options: { temporary: boolean }): void {
  const conversation = context.session.get(state);
  conversation.active = nameKey(name);
  if (options.temporary) conversation.temporary.add(nameKey(name));
  else conversation.temporary.delete(nameKey(name));
}

/** An update of a bank, as its conversation counts it. */
interface NumberedUpdate {
  readonly conversation: string;
  readonly count: number;
}

/** Returns the conversation and number of an update, from the call or else from the session's count. */
export function nextUpdate(
  context: Context,
  given: {
    readonly conversation_id?: string | undefined;
    readonly update_count?: number | undefined;
  },
): NumberedUpdate {
  const conversation = given.conversation_id ?? context.session.id;
  const { updates } = context.session.get(state);
  return { conversation, count: given.update_count ?? (updates.get(conversation) ?? 0) + 1 };
}

/** Counts an update that has succeeded. */
export function countUpdate(context: Context, { conversation, count }: NumberedUpdate): void {
  context.session.get(state).updates.set(conversation, count);
}

/** Records when a bank was used: in the local state, so that reading makes no commit. */
export async function noteUse(context: Context, bank: Bank): Promise<void> {
  try {
    await (await storeOf(context, bank.type)).local.set(usedKey(bank), timestamp(context.now()));
  } catch (thrown) {
    // A failure here must not prevent the session from reading the bank.
    context.log('warning', `Last use of ${bank.folder} not saved: ${toMemoryError(thrown).text}`);
  }
}

/** Returns when a bank was last activated, swapped to or updated on this machine. */
export async function lastUse(context: Context, bank: Bank): Promise<string | undefined> {
  const noted = await (await storeOf(context, bank.type)).local.get(usedKey(bank));
  return typeof noted === 'string' ? noted : undefined;
}

function usedKey(bank: Bank): string {
  return `banks/${bank.folder}/last-used`;
}

function nameKey({ type, id }: BankName): string {
  return `${type}/${id}`;
}
