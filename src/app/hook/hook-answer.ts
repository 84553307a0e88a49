import type { Context } from '../../core/context.ts';
import { type ClientEvent, contextAnswer, takesContext } from './client-event.ts';
import { digest, type HookSession, HookSessions } from './hook-sessions.ts';

/** Longest text that a hook adds for a prompt, in characters. */
const promptBudget = 2_000;
const startBudget = 6_000;
/** Number of edited files without a commit that are worth a reminder. */
const manyFiles = 8;

const reminder =
  'The project memory has not been written in this session, although files of the project have changed. log_decision, track_progress and memory_write record decisions, progress and lessons.';

/**
 * Returns the answer to an event of a client's session; undefined if there is nothing to say.
 *
 * It changes no record. What a session was given is kept in the local state of the clone, so that
 * the session does not get it again.
 */
export async function answerHook(
  context: Context,
  event: ClientEvent,
): Promise<object | undefined> {
  const { initialized } = await context.project.info();
  if (!initialized) return undefined;
  const sessions = new HookSessions(context.store.local, context.now());
  const id = `${event.client} ${event.session ?? ''}`;
  const known = event.session === undefined ? undefined : await sessions.find(id);
  const begun = known ?? (await begin(context));
  const start = event.event === 'session-start';
  const session = {
    ...begun,
    at: context.now().toISOString(),
    given: event.forgotten ? [] : begun.given,
  };
  const composed = takesContext(event)
    ? await compose(
        context,
        event,
        session,
        start ? await sessions.lastVisit(event.client) : undefined,
      )
    : { text: '', given: [] };
  const remind = await mayRemind(context, event, session, known !== undefined);
  const text = [composed.text, remind ? reminder : ''].filter((part) => part !== '').join('\n\n');
  const after = {
    ...session,
    given: [...session.given, ...composed.given],
    reminded: session.reminded || remind,
  };
  const visitor = start && known === undefined ? event.client : undefined;
  // Without an id, or with nothing new, there is nothing to remember.
  const changed = text !== '' || known === undefined || event.forgotten;
  if (event.session !== undefined && changed) await sessions.save(id, after, visitor);
  return text === '' ? undefined : contextAnswer(event, text);
}

async function begin(context: Context): Promise<HookSession> {
  const { oid = '' } = await context.project.head();
  const memory = (await context.project.lastChange(''))?.oid ?? '';
  return { at: '', head: oid, memory, given: [], reminded: false };
}

/** Composes the text for an event, and the digests of its lines. */
async function compose(
  context: Context,
  { event, prompt }: ClientEvent,
  session: HookSession,
  since: string | undefined,
): Promise<{ readonly text: string; readonly given: readonly string[] }> {
  if (event === 'stop' || (event === 'prompt' && prompt === '')) return { text: '', given: [] };
  const { brief } = await import('../../toolsets/index.ts');
  const given = new Set(session.given);
  // One record can be about many prompts; a session gets it for the first one.
  const mark = ({ path, text }: { readonly path: string; readonly text: string }) =>
    digest(event === 'prompt' ? `prompt ${path}` : text);
  const { text, lines } = await brief(context, {
    budget: event === 'prompt' ? promptBudget : startBudget,
    ...(event === 'prompt' && { prompt, onlyPrompt: true }),
    since,
    isKnown: (line) => given.has(mark(line)),
  });
  return { text, given: lines.map(mark) };
}

/** Whether the session has changed the project and not the memory, and was not reminded of it. */
async function mayRemind(
  { project }: Context,
  event: ClientEvent,
  session: HookSession,
  known: boolean,
): Promise<boolean> {
  if (!known || session.reminded || event.goesOn || !takesContext(event)) return false;
  const memory = (await project.lastChange(''))?.oid ?? '';
  if (memory !== session.memory) return false;
  const { oid } = await project.head();
  if (session.head !== '' && oid !== session.head) {
    const { commits } = await project.drift(session.head, 1);
    if (commits > 0) return true;
  }
  const { edited } = await project.work(manyFiles);
  return edited.length >= manyFiles;
}
