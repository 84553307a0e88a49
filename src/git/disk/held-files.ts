import * as fs from 'node:fs';

/** The calls of node that fail on Windows while another program has a file open. */
export type HeldCalls = Pick<
  typeof fs,
  'openSync' | 'renameSync' | 'unlinkSync' | 'rmdirSync' | 'chmodSync' | 'lstatSync'
>;

/**
 * Options to remove a folder of a program that has just ended. On Windows it is in use for a moment longer;
 * Node.js tries again for about a second.
 */
export const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 } as const;

/** The system on which files are replaced; by default the real one. */
export interface HeldSystem {
  readonly platform?: NodeJS.Platform;
  readonly calls?: HeldCalls;
  /** Blocks the thread for a time, in milliseconds. */
  readonly pause?: (ms: number) => void;
}

/** Pauses between the attempts, in milliseconds: a scanner holds a new file for some tenths of a second. */
const pauses = [1, 5, 10, 20, 40, 80, 160, 320, 640];

/** The codes with which Windows refuses to replace, remove or create a file that is open or read-only. */
const held: ReadonlySet<unknown> = new Set(['EBUSY', 'EPERM', 'EACCES']);
/** The code with which it refuses to read one. */
const busy: ReadonlySet<unknown> = new Set(['EBUSY']);

/**
 * Opens, renames and removes files that another program may hold open.
 *
 * Windows refuses that, so there the call is repeated for about a second, as git does. It also refuses to
 * replace a read-only file, such as an object of git. On other systems the codes mean something else,
 * and nothing is repeated.
 */
export class HeldFiles {
  readonly #isWindows: boolean;
  readonly #calls: HeldCalls;
  readonly #pause: (ms: number) => void;

  constructor({ platform = process.platform, calls = fs, pause = block }: HeldSystem = {}) {
    this.#isWindows = platform === 'win32';
    this.#calls = calls;
    this.#pause = pause;
  }

  open(path: string, flags: string | number, mode?: number): number {
    const isReading = typeof flags === 'number' || flags.startsWith('r');
    const open = () => this.#calls.openSync(path, flags, mode);
    return this.#repeat(path, isReading ? busy : held, open);
  }

  /** Reads a file by a call of another module. */
  read<T>(path: string, call: () => T): T {
    return this.#repeat(path, busy, call);
  }

  rename(from: string, to: string): void {
    this.#repeat(to, held, () => this.#calls.renameSync(from, to));
  }

  unlink(path: string): void {
    this.#repeat(path, held, () => this.#calls.unlinkSync(path));
  }

  rmdir(path: string): void {
    this.#repeat(path, busy, () => this.#calls.rmdirSync(path));
  }

  /** @param codes the errors after which another attempt may succeed. */
  #repeat<T>(path: string, codes: ReadonlySet<unknown>, call: () => T): T {
    if (!this.#isWindows) return call();
    for (const pause of pauses) {
      try {
        return call();
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (!codes.has(code) || (codes === held && !this.#mayBeFreed(path))) throw error;
      }
      this.#pause(pause);
    }
    return call();
  }

  /** Makes a read-only file writable; returns false for a folder, which stays in the way. */
  #mayBeFreed(path: string): boolean {
    try {
      const stat = this.#calls.lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isDirectory()) return false;
      if (stat?.isFile() && (stat.mode & 0o200) === 0) this.#calls.chmodSync(path, 0o666);
    } catch {
      // The next attempt shows whether it can be replaced.
    }
    return true;
  }
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
