import type { DirectoryEntry, Files, LoadedFile, Stat } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { slashed } from './slashed.ts';

/** Operations that change the disk, hold a system resource, or can fail with the disk. */
export const operations = [
  'stat',
  'read',
  'list',
  'open',
  // An open that creates the file if there is none.
  'create',
  'write',
  'fsync',
  'truncate',
  'chmod',
  'utimes',
  'close',
  'rename',
  'link',
  'unlink',
  'mkdir',
  'rmdir',
] as const;
export type Operation = (typeof operations)[number];

/** A fault of one operation. */
export type Fault =
  /** The process dies before the operation. */
  | { readonly kind: 'kill' }
  /** Half of a write reaches the file, then the process dies. */
  | { readonly kind: 'torn' }
  /** The operation fails with this code; if `performed`, after it was done, as on a network disk. */
  | { readonly kind: 'error'; readonly code: string; readonly performed?: boolean };

/** Operations without effect on the disk: dying before one equals dying before the next operation. */
export const reading: ReadonlySet<Operation> = new Set<Operation>(['stat', 'read', 'list']);

/** Operations that a network disk may have done although the answer was lost. */
export const retransmitted: ReadonlySet<Operation> = new Set<Operation>([
  'rename',
  'link',
  'unlink',
  'mkdir',
  'rmdir',
]);

/** Selects the fault of each operation; the first one is number 1. */
export type FaultPlan = (n: number, operation: Operation) => Fault | undefined;

/** Thrown by every operation of a process whose death is simulated. */
export class Crash extends Error {
  constructor() {
    super('the process is dead');
  }
}

/** The line of an operation in the log of `FaultFiles`. */
export function logLine(operation: Operation, path: string): string {
  return `${operation} ${slashed(path)}`;
}

/**
 * The real disk with faults: every operation is counted, and a plan selects those that fail.
 *
 * After a kill, no write reaches the disk and no read succeeds, whatever the caller catches. The disk
 * is then in the state that a killed process leaves.
 */
export class FaultFiles implements Files {
  /** Operations so far, such as `rename /a/b`, on every system with `/`. */
  readonly log: string[] = [];
  /** Number of operations that may have changed the disk. */
  traces = 0;
  /** The operation that a fault hit first. */
  hit: string | undefined;
  dead = false;
  plan: FaultPlan;
  readonly #real = new NodeFiles();
  readonly #open = new Map<number, string>();
  readonly #die: () => void;

  /** @param die ends the real process; without it, the death is simulated. */
  constructor(plan: FaultPlan = () => undefined, die: () => void = () => undefined) {
    this.plan = plan;
    this.#die = die;
  }

  lstat(path: string): Stat | undefined {
    return this.#do('stat', path, () => this.#real.lstat(path));
  }

  hasStat(path: string, stat: Stat): boolean {
    return this.#do('stat', path, () => this.#real.hasStat(path, stat));
  }

  firstChanged(...[prefix, paths, stats, start, end]: Parameters<Files['firstChanged']>): number {
    for (let at = start; at < end; at++) {
      const next = this.#do('stat', prefix + paths[at], () =>
        this.#real.firstChanged(prefix, paths, stats, at, at + 1),
      );
      if (next === at) return at;
    }
    return end;
  }

  lstatExact(path: string) {
    return this.#do('stat', path, () => this.#real.lstatExact(path));
  }

  read(path: string, limit?: number): Buffer | undefined {
    return this.#do('read', path, () => this.#real.read(path, limit));
  }

  load(path: string, limit: number): LoadedFile | undefined {
    return this.#do('read', path, () => this.#real.load(path, limit));
  }

  list(path: string): DirectoryEntry[] | undefined {
    return this.#do('list', path, () => this.#real.list(path));
  }

  realpath(path: string): string | undefined {
    return this.#do('stat', path, () => this.#real.realpath(path));
  }

  readlink(path: string): string | undefined {
    return this.#do('stat', path, () => this.#real.readlink(path));
  }

  fstat(fd: number): Stat {
    return this.#do('stat', this.#nameOf(fd), () => this.#real.fstat(fd));
  }

  pread(fd: number, length: number, position: number): Buffer {
    return this.#do('read', this.#nameOf(fd), () => this.#real.pread(fd, length, position));
  }

  open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number): number {
    const operation = flags === 'wx' || flags === 'a' ? 'create' : 'open';
    const fd = this.#do(operation, path, () => this.#real.open(path, flags, mode));
    this.#open.set(fd, path);
    return fd;
  }

  write(fd: number, pieces: readonly Uint8Array[]): void {
    const half = () => {
      const bytes = Buffer.concat(pieces);
      this.#real.write(fd, [bytes.subarray(0, bytes.length / 2)]);
    };
    this.#do('write', this.#nameOf(fd), () => this.#real.write(fd, pieces), half);
  }

  fsync(fd: number, kind: 'data' | 'all'): Promise<void> {
    try {
      return this.#do('fsync', this.#nameOf(fd), () => this.#real.fsync(fd, kind));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  truncate(path: string, length: number): void {
    this.#do('truncate', path, () => this.#real.truncate(path, length));
  }

  chmod(fd: number, mode: number): void {
    this.#do('chmod', this.#nameOf(fd), () => this.#real.chmod(fd, mode));
  }

  setTime(fd: number, seconds: number): void {
    this.#do('utimes', this.#nameOf(fd), () => this.#real.setTime(fd, seconds));
  }

  close(fd: number): void {
    // A close that fails has nevertheless closed the file.
    const close = () => {
      this.#open.delete(fd);
      this.#real.close(fd);
    };
    this.#do('close', this.#nameOf(fd), close, close);
  }

  rename(from: string, to: string): void {
    this.#do('rename', to, () => this.#real.rename(from, to));
  }

  replace(from: string, to: string): void {
    this.#do('rename', to, () => this.#real.replace(from, to));
  }

  link(existing: string, path: string): void {
    this.#do('link', path, () => this.#real.link(existing, path));
  }

  unlink(path: string): void {
    this.#do('unlink', path, () => this.#real.unlink(path));
  }

  mkdir(path: string): void {
    this.#do('mkdir', path, () => this.#real.mkdir(path));
  }

  rmdir(path: string): void {
    this.#do('rmdir', path, () => this.#real.rmdir(path));
  }

  #do<T>(operation: Operation, path: string, action: () => T, partly?: () => void): T {
    this.#alive();
    if (!reading.has(operation)) this.traces += 1;
    const line = logLine(operation, path);
    const fault = this.plan(this.log.push(line), operation);
    if (!fault) return action();
    this.hit ??= line;
    if (fault.kind === 'error') {
      if (fault.performed && retransmitted.has(operation)) action();
      else partly?.();
      const text = `${fault.code}: fault, ${operation} '${path}'`;
      throw Object.assign(new Error(text), { code: fault.code, path });
    }
    if (fault.kind === 'torn') partly?.();
    this.dead = true;
    this.#die();
    for (const fd of this.#open.keys()) this.#real.close(fd);
    throw new Crash();
  }

  #alive(): void {
    if (this.dead) throw new Crash();
  }

  #nameOf(fd: number): string {
    return this.#open.get(fd) ?? `file ${fd}`;
  }
}
