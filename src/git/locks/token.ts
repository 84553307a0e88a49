import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { hasProcesses, stateOf } from './process-state.ts';

/**
 * Identifies a lock holder well enough to prove later that it is dead.
 *
 * A process is identified by pid and start time, because pids are reused. Both are valid only within
 * one boot and one pid namespace.
 */
export interface ProcessToken {
  /** Unique; part of the names of the holder's files. */
  readonly id: string;
  readonly pid: number;
  /** Clock ticks from boot to the start of the process; empty where the system does not report it. */
  readonly start: string;
  /** The kernel's boot id; the host name where there is none. */
  readonly boot: string;
  /** The pid namespace; empty where there is none. */
  readonly namespace: string;
  /** Seconds from boot to the making of the token; absent where there is a boot id. */
  readonly uptime?: number;
}

/** Identifies a host and its current boot. */
type Host = Pick<ProcessToken, 'boot' | 'namespace' | 'uptime'>;

/** Eight hexadecimal digits; the cryptography of node would delay the start of a hook. */
function randomDigits(): string {
  return Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}

/** A new token of this process. */
export function newToken(): ProcessToken {
  const id = `${process.pid.toString(36)}-${randomDigits()}${randomDigits()}`;
  return { id, pid: process.pid, start: startOf(process.pid), ...thisHost() };
}

/**
 * Whether the holder of a token is certainly dead.
 *
 * False may mean that this host cannot know: the holder is on another host or in another container.
 *
 * @param local whether only one kernel can use the disk that holds the lock; then a token of another
 *   boot is from before a restart.
 */
export function isDead(token: ProcessToken, local: boolean, here: Host = thisHost()): boolean {
  if (token.boot !== here.boot) return local && token.start !== '' && here.boot !== hostname();
  if (token.namespace !== here.namespace) return false;
  // The host has been started again since. Its pid can belong to a service that always runs.
  if (here.uptime !== undefined && here.uptime < (token.uptime ?? 0)) return true;
  const start = startOf(token.pid);
  if (token.start !== '' && start !== '') return start !== token.start;
  return !exists(token.pid);
}

/** Parses a token; undefined for any other text. */
export function parseToken(text: string): ProcessToken | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { id, pid, start, boot, namespace, uptime } = value as Partial<
      Record<keyof ProcessToken, unknown>
    >;
    if (typeof id !== 'string' || !/^[0-9a-z-]{1,64}$/.test(id)) return undefined;
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid)) return undefined;
    if (typeof start !== 'string' || typeof boot !== 'string') return undefined;
    if (typeof namespace !== 'string') return undefined;
    const known = typeof uptime === 'number' ? { uptime } : {};
    return { id, pid, start, boot, namespace, ...known };
  } catch {
    return undefined;
  }
}

/** Start time of a process; empty if it does not exist, is a zombie, or the system does not report it. */
function startOf(pid: number): string {
  const state = stateOf(pid);
  return state?.isAlive ? state.start : '';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
  // A zombie accepts signals but runs nothing.
  return startOf(process.pid) === '' || startOf(pid) !== '';
}

function thisHost(): Host {
  const unknown = { boot: hostname(), namespace: '', uptime: uptime() };
  if (!hasProcesses) return unknown;
  try {
    return {
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
      namespace: readlinkSync('/proc/self/ns/pid'),
    };
  } catch {
    return unknown;
  }
}
