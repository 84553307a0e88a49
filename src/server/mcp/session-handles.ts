import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Tool } from '../../core/declarations/tool.ts';
import type { Session } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import type { ListedTool } from './methods.ts';

/** The time after its last use at which a handle expires, in milliseconds. */
const life = 60 * 60 * 1000;

/** The limit of kept sessions; above it, the one that was not used for longest is forgotten. */
export const maxKept = 1_000;

/** The limit of kept sessions of one caller. */
export const maxOfCaller = 200;

/** Bytes of the random part of a handle, and of the code that binds it to its caller. */
const randomBytesOfHandle = 16;
const codeBytes = 8;

const description = 'Handle that an earlier call answered as "session"';
const argument = { type: 'string', description };

/** The argument of a prompt that names the session. */
export const sessionOfPrompt = { name: 'session', description };

const note =
  'Answers "session", a handle of this state: pass it to the calls that need it. It expires an hour after its last use.';

interface Kept {
  readonly session: Session;
  readonly caller: string;
  readonly used: number;
}

/** The session of one call. */
interface HeldSession {
  readonly session: Session;
  /** Why the handle of the call is refused; the session is then another one. */
  readonly refusal?: MemoryError;
  /** Keeps the session for later calls of its caller; returns its handle. */
  keep(): string;
}

/**
 * The sessions that callers name by a handle, because their requests share no connection.
 *
 * A handle is random. Its second part authenticates the caller, so an expired one can be told from
 * one of another caller without keeping it.
 */
export class SessionHandles {
  readonly #connect: (onlyMode?: string) => Session;
  readonly #now: () => number;
  readonly #secret = randomBytes(32);
  /** By handle, the one that was not used for longest first. */
  readonly #kept = new Map<string, Kept>();

  /** @param connect begins a session. */
  constructor(connect: (onlyMode?: string) => Session, now: () => number = Date.now) {
    this.#connect = connect;
    this.#now = now;
  }

  /**
   * Returns the session of a handle; a new one without a handle, or with a refused one.
   *
   * @param handle the argument of a call.
   * @param onlyMode the only mode that the caller may use.
   */
  open(handle: unknown, caller: string, onlyMode?: string): HeldSession {
    if (handle === undefined) {
      const session = this.#connect(onlyMode);
      return { session, keep: () => this.#keep(session, caller) };
    }
    this.#forgetExpired();
    const own = this.gave(handle, caller);
    const kept = own ? this.#kept.get(handle) : undefined;
    if (!own || !kept) {
      const problem = own ? 'has expired' : 'is not a handle that this server gave to this caller';
      return { ...this.open(undefined, caller, onlyMode), refusal: refusal(problem) };
    }
    this.#kept.delete(handle);
    this.#kept.set(handle, { ...kept, used: this.#now() });
    return { session: kept.session, keep: () => handle };
  }

  /** Whether this caller got a handle from here, which may have expired. */
  gave(handle: unknown, caller: string): handle is string {
    return typeof handle === 'string' && this.#isOf(handle, caller);
  }

  #keep(session: Session, caller: string): string {
    this.#forgetExpired();
    const own = [...this.#kept].flatMap(([handle, kept]) => (kept.caller === caller ? handle : []));
    if (own.length >= maxOfCaller) this.#forget(own[0]);
    else if (this.#kept.size >= maxKept) this.#forget(this.#kept.keys().next().value);
    const random = randomBytes(randomBytesOfHandle);
    const handle = Buffer.concat([random, this.#code(random, caller)]).toString('base64url');
    this.#kept.set(handle, { session, caller, used: this.#now() });
    return handle;
  }

  #forget(handle: string | undefined): void {
    if (handle !== undefined) this.#kept.delete(handle);
  }

  #forgetExpired(): void {
    const oldest = this.#now() - life;
    for (const [handle, { used }] of this.#kept) {
      if (used > oldest) return;
      this.#kept.delete(handle);
    }
  }

  #isOf(handle: string, caller: string): boolean {
    const bytes = Buffer.from(handle, 'base64url');
    const whole = bytes.length === randomBytesOfHandle + codeBytes;
    if (!whole || bytes.toString('base64url') !== handle) return false;
    const random = bytes.subarray(0, randomBytesOfHandle);
    return timingSafeEqual(bytes.subarray(randomBytesOfHandle), this.#code(random, caller));
  }

  #code(random: Buffer, caller: string): Buffer {
    const hmac = createHmac('sha256', this.#secret).update(random).update(caller);
    return hmac.digest().subarray(0, codeBytes);
  }
}

function refusal(problem: string): MemoryError {
  const message = `session: ${problem}`;
  return new MemoryError('invalid_input', message, {
    hint: 'Call the tool that set the project, mode or bank again without "session", which answers a new handle.',
    issues: [{ path: ['session'], kind: 'value', message: problem }],
  });
}

/** Adds the argument that names the session to a tool, and its lifetime to a tool that answers one. */
export function withHandle(listed: ListedTool, { setsSession }: Tool): ListedTool {
  const { description, inputSchema } = listed;
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  return {
    ...listed,
    description: setsSession ? `${description} ${note}` : description,
    inputSchema: { ...inputSchema, properties: { ...properties, session: argument } },
  };
}
