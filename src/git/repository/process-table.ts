import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { monotonicTime } from '../locks/lock.ts';
import { hasProcesses } from '../locks/process-state.ts';

/** Time after which a process that has not become git is not expected to at once, and at all, in milliseconds. */
const [begunAfter, settledAfter] = [100, 1000];
/** Up to this number of new processes, they are looked at one by one. */
const fewNew = 32;
/** Time between two readings of the names of others that can become git, in milliseconds. */
const pause = 20;
/** Programs that often turn into another one, whatever their age: shells and the like. */
const starters = /^(?:(?:ba|da|z|fi|k|a|tc|mk)?sh|busybox|env|sudo|su|doas|nice|timeout|xargs)\b/;

/**
 * Finds the running processes of git.
 *
 * It is asked before each change, so it reads little: the new processes, and of the others those that can still
 * become git. The first look, and one after a pause, read the names of all.
 */
export class ProcessTable {
  /** The other processes: their names, and when they were first seen. */
  #known = new Map<string, { name: string; readonly since: number }>();
  #newest: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #othersReadAt = Number.NEGATIVE_INFINITY;
  #isTrusted: boolean | undefined;

  /** Lists the pids of the processes whose program is named `git`, or begins with `git-`. */
  gits(): number[] {
    if (!hasProcesses) return [];
    const now = monotonicTime();
    if (now - this.#lookedAt > settledAfter) for (const one of this.#known.values()) one.name = '';
    this.#lookedAt = now;
    this.#isTrusted ??= !isReplaced();
    // Before the listing: a process that starts after this is newer at the next look.
    const newest = this.#isTrusted ? newestPid() : undefined;
    this.#add(newest, now);
    this.#newest = newest;
    const found: number[] = [];
    const areOthersRead = now - this.#othersReadAt < pause;
    if (!areOthersRead) this.#othersReadAt = now;
    for (const [pid, known] of this.#known) {
      if (known.name !== '' && !isGitName(known.name)) {
        const age = now - known.since;
        if (age > begunAfter && areOthersRead) continue;
        if (age > settledAfter && !starters.test(known.name)) continue;
      }
      const name = readSmall(`/proc/${pid}/comm`)?.trimEnd();
      if (name === undefined) this.#known.delete(pid);
      else if (isGitName(name)) found.push(Number(pid));
      known.name = name ?? '';
    }
    return found;
  }

  /** Adds the processes that are new since the last look. */
  #add(newest: number | undefined, now: number): void {
    const made = (newest ?? Number.NaN) - (this.#newest ?? Number.NaN);
    // A thread among them looks like a process, and does no harm.
    if (made >= 0 && made <= fewNew) {
      for (let i = 0; i < made; i++) {
        this.#known.set(String((newest ?? 0) - i), { name: '', since: now });
      }
    } else this.#list(now);
  }

  #list(now: number): void {
    const before = this.#known;
    this.#known = new Map();
    for (const pid of readdirSync('/proc')) {
      const first = pid.charCodeAt(0);
      if (first < 49 || first > 57) continue;
      this.#known.set(pid, before.get(pid) ?? { name: '', since: now });
    }
  }
}

function isGitName(name: string): boolean {
  return name === 'git' || name.startsWith('git-');
}

/** The pid of the process or thread that was made last. */
function newestPid(): number | undefined {
  const text = readSmall('/proc/loadavg');
  return text === undefined ? undefined : Number(text.slice(text.lastIndexOf(' ') + 1));
}

/** Whether a container shows a file of its own instead, which is renewed only now and then (lxcfs). */
function isReplaced(): boolean {
  return readSmall('/proc/self/mountinfo', 1 << 20)?.includes(' /proc/loadavg ') ?? true;
}

const buffer = Buffer.alloc(4096);

/** Reads the beginning of a file of the system; undefined if its process has ended. */
function readSmall(path: string, limit = 0): string | undefined {
  try {
    if (limit > buffer.length) return readFileSync(path, 'latin1');
    const fd = openSync(path, 'r');
    try {
      return buffer.toString('latin1', 0, readSync(fd, buffer));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
