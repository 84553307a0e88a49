import type { Brief, BriefLine } from '../../toolsets/brief/layout.ts';
import { defaultBudget } from '../../toolsets/brief/session-brief.ts';
import { answerAction } from './action-answer.ts';
import { type ClientEvent, contextAnswer, endAnswer, takesContext } from './client-event.ts';
import type { HookMemory } from './hook-memory.ts';
import { digest, type HookSession, HookSessions, sessionId } from './hook-sessions.ts';
import { lastMoment } from './last-moment.ts';

/** Longest text that a hook adds for a prompt, in characters. */
const promptBudget = 2_000;
/** Number of edited files without a commit that are worth a reminder. */
const manyFiles = 8;

const reminder =
  'The project memory has not been written in this session, although files of the project have changed.';
/** Tools that record something, and what. */
const recorders = [
  ['log_decision', 'decisions'],
  ['track_progress', 'progress'],
  ['memory_write', 'lessons'],
] as const;

/**
 * Returns the answer to an event of a client's session; undefined if there is nothing to say.
 *
 * It changes no record. What a session was given is kept in the local state of the clone, so that
 * the session does not get it again. An answer that is not known keeps nothing.
 */
export async function answerHook<U extends 'unknown' = never>(
  memory: HookMemory<U>,
  event: ClientEvent,
): Promise<object | U | undefined> {
  if (event.event === 'action') return answerAction(memory, event, () => begin(memory));
  // No client adds text to the context here.
  if (event.event === 'pre-compact' || !(await memory.isInitialized())) return undefined;
  if (event.event === 'session-end') {
    if (!(await memory.recordsCommits())) return undefined;
    return memory.state.exclusively(() => recordSession(memory, event));
  }
  // Otherwise two hooks of one session would give the same text.
  return memory.state.exclusively(() => answerAlone(memory, event));
}

/** Records the commits of a session, each of them once. */
async function recordSession<U extends 'unknown'>(
  memory: HookMemory<U>,
  event: ClientEvent,
): Promise<U | undefined> {
  const sessions = new HookSessions(memory.state.local, memory.now);
  const id = sessionId(event);
  const session = event.session === undefined ? undefined : await sessions.find(id);
  if (!session || session.head === '') return undefined;
  const outcome = await memory.recordCommits(session.head);
  if (outcome !== 'recorded') return outcome;
  const [head, lastChange] = [await memory.head(), await memory.lastChange()];
  await sessions.save(id, { ...session, head, memory: lastChange });
  return undefined;
}

async function answerAlone<U extends 'unknown'>(
  memory: HookMemory<U>,
  event: ClientEvent,
): Promise<object | U | undefined> {
  const sessions = new HookSessions(memory.state.local, memory.now);
  const id = sessionId(event);
  const known = event.session === undefined ? undefined : await sessions.find(id);
  const begun = known ?? (await begin(memory));
  const start = event.event === 'session-start';
  const session = {
    ...begun,
    at: memory.now.toISOString(),
    given: event.forgotten ? [] : begun.given,
  };
  const speaks = await memory.speaksAt(event.event === 'prompt' ? 'prompt' : 'start');
  const composed =
    speaks && takesContext(event)
      ? await compose(
          memory,
          event,
          session,
          start ? await sessions.lastVisit(event.client) : undefined,
        )
      : nothing;
  if (composed === 'unknown') return composed;
  const end = known ? await lastMoment(memory, event, session) : [];
  if (end === 'unknown') return end;
  const isEnd = end.length > 0;
  const remind = !isEnd && (await mayRemind(memory, event, session, known !== undefined));
  const text = [composed.text, ...end, remind ? await reminderOf(memory) : '']
    .filter((part) => part !== '')
    .join('\n\n');
  const after = {
    ...session,
    given: [...session.given, ...composed.given],
    // The sentence at the end says more than the reminder.
    reminded: session.reminded || remind || isEnd,
    ended: session.ended === true || isEnd,
  };
  const visitor = start && known === undefined ? event.client : undefined;
  if (event.event === 'prompt' && event.session !== undefined && composed.lines.length > 0) {
    await memory.state.shown.add(composed.lines);
  }
  // Without an id, or with nothing new, there is nothing to remember.
  const changed = text !== '' || known === undefined || event.forgotten;
  if (event.session !== undefined && changed) await sessions.save(id, after, visitor);
  // Nothing is said that was not stored first, so that a hook that fails is not repeated.
  if (text === '') return undefined;
  return isEnd ? endAnswer(event, text) : contextAnswer(event, text);
}

/** The reminder, with the tools that the client is offered. */
async function reminderOf(memory: HookMemory<'unknown'>): Promise<string> {
  const offered = await memory.tools();
  const named = recorders.filter(([tool]) => offered.has(tool));
  return [reminder, ...named.map(([tool, what]) => `${tool} records ${what}.`)].join(' ');
}

async function begin(memory: HookMemory<'unknown'>): Promise<HookSession> {
  const [head, lastChange] = [await memory.head(), await memory.lastChange()];
  return { at: '', head, memory: lastChange, given: [], reminded: false };
}

/** The text for an event, its lines, and their digests. */
interface Composed extends Brief {
  readonly given: readonly string[];
}
const nothing: Composed = { text: '', lines: [], given: [] };

/** Composes the text for an event. */
async function compose<U extends 'unknown'>(
  memory: HookMemory<U>,
  { event, prompt }: ClientEvent,
  session: HookSession,
  since: string | undefined,
): Promise<Composed | U> {
  const isPrompt = event === 'prompt';
  if (event === 'stop' || (isPrompt && prompt === '')) return nothing;
  const given = new Set(session.given);
  // One record can be about many prompts; a session gets it for the first one.
  const mark = ({ path, entry = '', text }: BriefLine) =>
    digest(isPrompt ? `prompt ${path} ${entry}` : text);
  const composed = await memory.brief({
    budget: isPrompt ? promptBudget : defaultBudget,
    ...(isPrompt && { prompt, onlyPrompt: true }),
    since,
    isKnown: (line) => given.has(mark(line)) || (isPrompt && memory.state.shown.isWorn(line)),
  });
  if (composed === 'unknown') return composed;
  const { text, lines } = composed;
  return { text, lines, given: lines.map(mark) };
}

/** Whether the session has changed the project and not the memory, and was not reminded of it. */
async function mayRemind(
  memory: HookMemory<'unknown'>,
  event: ClientEvent,
  session: HookSession,
  known: boolean,
): Promise<boolean> {
  if (!known || session.reminded || event.goesOn || !takesContext(event)) return false;
  // A client that takes it at the end of a turn does not have to wait for it at the beginning.
  if (event.event !== 'stop' && takesContext({ ...event, event: 'stop' })) return false;
  if ((await memory.lastChange()) !== session.memory) return false;
  const moved = session.head !== '' && (await memory.head()) !== session.head;
  if (moved && (await memory.hasCommitsSince(session.head))) return true;
  return (await memory.edited(manyFiles)) >= manyFiles;
}
