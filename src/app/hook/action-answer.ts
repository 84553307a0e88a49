import type { RecordDoubts } from '../../core/memory/store.ts';
import { actionText, maxAtAction } from '../../toolsets/brief/action-text.ts';
import { trustedFirst } from '../../toolsets/brief/change-note.ts';
import { type KeyedPassage, surestFirst } from '../../toolsets/brief/keyed-passage.ts';
import { actionsOf } from './client-action.ts';
import { type ClientEvent, contextAnswer, takesContext } from './client-event.ts';
import type { HookMemory } from './hook-memory.ts';
import { digest, type HookSession, HookSessions, sessionId } from './hook-sessions.ts';

/** Number of the first passages that a session does not have, of which the surest are taken. */
const mostPassages = 12;
/** Number of the surest of these whose records are compared with the code: some may be superseded. */
const mostDoubted = 5;

/** An action that a session is about to take, and the surest passages about it that it does not have. */
interface KnownAction {
  readonly subject: string;
  readonly passages: readonly KeyedPassage[];
}

/**
 * Returns the answer to a call of a tool that a session is about to make: the passages of records about
 * its file or command, each once in a session; undefined if there is nothing to say.
 *
 * It runs before each call, so without an answer it waits for no lock and stores nothing.
 */
export async function answerAction<U extends 'unknown' = never>(
  memory: HookMemory<U>,
  event: ClientEvent,
  begin: () => Promise<HookSession>,
): Promise<object | U | undefined> {
  if (!event.action || !takesContext(event)) return undefined;
  const actions = actionsOf(event.action, memory.root, event.cwd);
  const keys = actions.flatMap((action) => action.keys);
  if (keys.length === 0 || !(await memory.isInitialized())) return undefined;
  const wanted = async (): Promise<KnownAction | U | undefined> => {
    const session = await new HookSessions(memory.state.local, memory.now).find(sessionId(event));
    const given = new Set(session?.given);
    for (const { subject, keys, moment } of actions) {
      const found = await memory.passages(keys, (one) => given.has(markOf(one)), mostPassages);
      if (found === 'unknown') return found;
      const passages = [...found].sort(surestFirst);
      if (passages.length > 0 && (await memory.speaksAt(moment))) return { subject, passages };
    }
    return undefined;
  };
  const first = await wanted();
  if (first === undefined || first === 'unknown') return first;
  // Otherwise two hooks of one session would give the same text.
  return memory.state.exclusively(async () => {
    const action = await wanted();
    if (action === undefined || action === 'unknown') return action;
    return answerWith(memory, event, action, begin);
  });
}

async function answerWith<U extends 'unknown'>(
  memory: HookMemory<U>,
  event: ClientEvent,
  { subject, passages }: KnownAction,
  begin: () => Promise<HookSession>,
): Promise<object | U | undefined> {
  const doubts = await memory.doubts([
    ...new Set(passages.slice(0, mostDoubted).map(({ path }) => path)),
  ]);
  if (doubts === 'unknown') return doubts;
  const held = passages.flatMap((passage) => {
    const known = doubts.get(passage.path);
    return known && !known.superseded ? [{ ...passage, doubts: known }] : [];
  });
  const counts = memory.state.shown;
  const fresh = (await memory.dated(held)).filter((passage) => !counts.isWorn(passage));
  const surest = await Promise.all(
    fresh.slice(0, maxAtAction).map(async (passage) => {
      return { ...passage, commit: await changedBy(memory, passage.doubts) };
    }),
  );
  const { text, shown } = actionText(subject, trustedFirst(surest));
  if (text === '') return undefined;
  if (event.session !== undefined) {
    await counts.add(shown);
    const sessions = new HookSessions(memory.state.local, memory.now);
    const id = sessionId(event);
    const session = (await sessions.find(id)) ?? (await begin());
    const given = [...session.given, ...shown.map(markOf)];
    await sessions.save(id, { ...session, at: memory.now.toISOString(), given });
  }
  return contextAnswer(event, text);
}

/** The mark of a passage that a session was given. */
function markOf({ path, entry = '', text }: KeyedPassage): string {
  return digest(`action ${path} ${entry} ${text}`);
}

/** The commit that last changed the code of a record that may be out of date. */
async function changedBy(
  memory: Pick<HookMemory<'unknown'>, 'lastChangeOf'>,
  { reasons, files }: RecordDoubts,
): Promise<string | undefined> {
  const [reason] = reasons;
  const file = files.find(([path]) => reason?.includes(path));
  if (!file || reason?.includes('not committed yet')) return undefined;
  return memory.lastChangeOf(file[0]);
}
