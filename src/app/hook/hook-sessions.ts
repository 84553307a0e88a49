import type { LocalState } from '../../core/memory/store.ts';
import { checksum } from '../../core/values/checksum.ts';
import { isObject, type JsonObject, type JsonValue, own } from '../../core/values/json.ts';
import type { ClientEvent } from './client-event.ts';

/** The state of one session of a client, kept from one hook to the next. */
export interface HookSession {
  /** When a hook last ran, ISO 8601. */
  readonly at: string;
  /** HEAD, and the last commit of the memory, when the session began. */
  readonly head: string;
  readonly memory: string;
  /** Digests of the lines, and of the records about prompts, that the session has. */
  readonly given: readonly string[];
  readonly reminded: boolean;
  /** Whether it has heard at its end which records may be out of date. */
  readonly ended?: boolean;
}

const stateKey = 'hooks';
/** A UUID at the beginning; a name of an agent of the session may follow. */
const unique = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f])/i;
const maxSessions = 30;
const maxGiven = 400;
const maxAge = 14 * 24 * 60 * 60 * 1000;

/** Sessions of clients and the times of their last visits, in the local state of the clone. */
export class HookSessions {
  readonly #local: LocalState;
  readonly #now: Date;

  constructor(local: LocalState, now: Date) {
    this.#local = local;
    this.#now = now;
  }

  /** Returns the session with an id, or undefined. */
  async find(id: string): Promise<HookSession | undefined> {
    return toSession(own(await this.#part('sessions'), digest(id)));
  }

  /** Returns when a session of a client last began, other than the given one. */
  async lastVisit(client: string): Promise<string | undefined> {
    const at = own(await this.#part('visits'), client);
    return typeof at === 'string' ? at : undefined;
  }

  /** Stores a session, drops the old ones, and notes the visit of a client. */
  async save(id: string, session: HookSession, visitor?: string): Promise<void> {
    const oldest = new Date(this.#now.getTime() - maxAge).toISOString();
    const others = Object.entries(await this.#part('sessions')).flatMap(([key, value]) => {
      const known = toSession(value);
      return known && known.at >= oldest && key !== digest(id) ? [[key, known] as const] : [];
    });
    others.sort(([, a], [, b]) => (a.at > b.at ? -1 : 1));
    const kept = [[digest(id), session] as const, ...others.slice(0, maxSessions - 1)];
    const visits = await this.#part('visits');
    await this.#local.set(stateKey, {
      sessions: Object.fromEntries(kept.map(([key, one]) => [key, toJson(one)])),
      visits: visitor === undefined ? visits : { ...visits, [visitor]: session.at },
    });
  }

  async #part(name: string): Promise<JsonObject> {
    const state = await this.#local.get(stateKey);
    const part = isObject(state) ? own(state, name) : undefined;
    return isObject(part) ? part : {};
  }
}

/**
 * The key under which the session of an event is kept.
 *
 * Copilot CLI also runs the hooks of Claude Code, with the same id in the shape of another client, so that
 * an id that no other session can have is enough.
 */
export function sessionId({
  client,
  session = '',
}: Pick<ClientEvent, 'client' | 'session'>): string {
  return unique.test(session) ? session : `${client} ${session}`;
}

/** A short name of a text, for comparisons. */
export function digest(text: string): string {
  return checksum(text);
}

function toJson({ at, head, memory, given, reminded, ended }: HookSession): JsonObject {
  return { at, head, memory, given: given.slice(-maxGiven), reminded, ...(ended && { ended }) };
}

function toSession(value: JsonValue | undefined): HookSession | undefined {
  if (!isObject(value)) return undefined;
  const { at, head, memory, given, reminded, ended } = value;
  if (typeof at !== 'string' || typeof head !== 'string' || typeof memory !== 'string') {
    return undefined;
  }
  const list: readonly JsonValue[] = Array.isArray(given) ? given : [];
  const texts = list.filter((one) => typeof one === 'string');
  return { at, head, memory, given: texts, reminded: reminded === true, ended: ended === true };
}
