import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import type { Random } from './random.ts';

/**
 * Order in which a disk persists the changes of folders.
 *
 * `journal`: in the order in which they were made, and any fsync persists all earlier ones, as on
 * ext4 and XFS. `tree-log`: all changes up to some moment, and later ones only after an fsync of their
 * folder, as on Btrfs. POSIX allows more: two folders without an fsync may persist their changes in
 * any order.
 */
export type Ordering = 'journal' | 'tree-log';

/** A change of a folder, or an fsync. */
type Step =
  | { readonly kind: 'name'; readonly path: string; readonly file: number }
  | { readonly kind: 'rename'; readonly from: string; readonly path: string; readonly file: number }
  | { readonly kind: 'unlink' | 'mkdir' | 'rmdir'; readonly path: string }
  | { readonly kind: 'data'; readonly file: number; readonly bytes: Buffer }
  | { readonly kind: 'sync'; readonly file: number }
  | { readonly kind: 'settle'; readonly path: string };

/**
 * The real disk with a recording of all operations, from which the state after a power cut at any
 * moment can be made: data without an fsync may be present, absent or partial.
 */
export class PowerCutFiles extends NodeFiles {
  readonly #root: string;
  readonly #steps: Step[] = [];
  readonly #byPath = new Map<string, number>();
  readonly #byFd = new Map<number, number | string>();
  /** Position of the next write to a file. */
  readonly #at = new Map<number, number>();
  /** Contents and mode of each file by its number, and the path of a file that existed before. */
  readonly #files: { bytes: Buffer; mode: number; readonly origin: string | undefined }[] = [];

  /** @param root everything below this folder is recorded. */
  constructor(root: string) {
    super();
    this.#root = root;
  }

  /** Number of recorded steps. */
  get length(): number {
    return this.#steps.length;
  }

  override open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number): number {
    const made = flags !== 'r' && !fs.existsSync(path);
    const fd = super.open(path, flags, mode);
    const { kind, mode: given } = super.fstat(fd);
    if (made) {
      const file = this.#files.push({ bytes: Buffer.alloc(0), mode: given, origin: undefined }) - 1;
      this.#byPath.set(path, file);
      this.#steps.push({ kind: 'name', path, file });
    }
    const what = kind === 'directory' ? path : flags === 'r' ? -1 : this.#fileAt(path);
    this.#byFd.set(fd, what);
    if (flags === 'a') this.#at.set(fd, this.#file(this.#numberOf(fd)).bytes.length);
    return fd;
  }

  override write(fd: number, pieces: readonly Uint8Array[]): void {
    super.write(fd, pieces);
    const file = this.#numberOf(fd);
    const before = this.#file(file).bytes;
    const at = this.#at.get(fd) ?? 0;
    const head = Buffer.concat([before.subarray(0, at), ...pieces]);
    this.#at.set(fd, head.length);
    this.#data(file, Buffer.concat([head, before.subarray(head.length)]));
  }

  override async fsync(fd: number, kind: 'data' | 'all'): Promise<void> {
    const what = this.#byFd.get(fd);
    await super.fsync(fd, kind);
    if (typeof what === 'string') this.#steps.push({ kind: 'settle', path: what });
    else if (what !== undefined) this.#steps.push({ kind: 'sync', file: what });
  }

  override truncate(path: string, length: number): void {
    super.truncate(path, length);
    const file = this.#fileAt(path);
    this.#data(file, this.#file(file).bytes.subarray(0, length));
  }

  override chmod(fd: number, mode: number): void {
    super.chmod(fd, mode);
    this.#file(this.#numberOf(fd)).mode = mode;
  }

  override close(fd: number): void {
    super.close(fd);
    this.#byFd.delete(fd);
    this.#at.delete(fd);
  }

  override rename(from: string, path: string): void {
    const file = this.#fileAt(from);
    super.rename(from, path);
    this.#moved(from, path, file);
  }

  override replace(from: string, path: string): void {
    const file = this.#fileAt(from);
    super.replace(from, path);
    this.#moved(from, path, file);
  }

  #moved(from: string, path: string, file: number): void {
    this.#byPath.delete(from);
    this.#byPath.set(path, file);
    if (dirname(from) === dirname(path)) this.#steps.push({ kind: 'rename', from, path, file });
    // A disk may persist the change of one folder without that of the other.
    else this.#steps.push({ kind: 'name', path, file }, { kind: 'unlink', path: from });
  }

  override link(existing: string, path: string): void {
    const file = this.#fileAt(existing);
    super.link(existing, path);
    this.#byPath.set(path, file);
    this.#steps.push({ kind: 'name', path, file });
  }

  override unlink(path: string): void {
    super.unlink(path);
    this.#byPath.delete(path);
    this.#steps.push({ kind: 'unlink', path });
  }

  override mkdir(path: string): void {
    super.mkdir(path);
    this.#steps.push({ kind: 'mkdir', path });
  }

  override rmdir(path: string): void {
    super.rmdir(path);
    this.#steps.push({ kind: 'rmdir', path });
  }

  /**
   * Brings a copy of the initial folder into a possible state after a power cut.
   *
   * @param at number of recorded steps before the power cut.
   */
  cut(to: string, at: number, ordering: Ordering, random: Random): void {
    const steps = this.#steps.slice(0, at);
    const kept = ordering === 'journal' ? keepInOrder(steps, random) : keepByLog(steps, random);
    const stash = `${to}.stash`;
    fs.mkdirSync(stash);
    const moved = (path: string) => join(to, path.slice(this.#root.length));
    for (const [i, { origin, mode }] of this.#files.entries()) {
      const bytes = keepData(steps, i, origin && fs.readFileSync(moved(origin)), random);
      if (origin) fs.linkSync(moved(origin), join(stash, `${i}`));
      fs.writeFileSync(join(stash, `${i}`), bytes);
      fs.chmodSync(join(stash, `${i}`), mode & 0o777);
    }
    for (const step of steps) {
      if (!kept.has(step)) continue;
      // A folder that was lost itself contains nothing.
      if ('path' in step && !fs.existsSync(moved(dirname(step.path)))) continue;
      if (step.kind === 'name' || step.kind === 'rename') {
        fs.rmSync(moved(step.path), { force: true });
        fs.linkSync(join(stash, `${step.file}`), moved(step.path));
        if (step.kind === 'rename') fs.rmSync(moved(step.from), { force: true });
      } else if (step.kind === 'unlink') fs.rmSync(moved(step.path), { force: true });
      else if (step.kind === 'mkdir') fs.mkdirSync(moved(step.path), { recursive: true });
      else if (step.kind === 'rmdir') fs.rmSync(moved(step.path), { recursive: true, force: true });
    }
    fs.rmSync(stash, { recursive: true });
  }

  #data(file: number, bytes: Buffer): void {
    this.#file(file).bytes = bytes;
    this.#steps.push({ kind: 'data', file, bytes });
  }

  #numberOf(fd: number): number {
    const file = this.#byFd.get(fd);
    if (typeof file !== 'number') throw new Error('a folder is written to');
    return file;
  }

  #file(file: number) {
    const found = this.#files[file];
    if (!found) throw new Error('a file is written to that was opened for reading');
    return found;
  }

  #fileAt(path: string): number {
    const known = this.#byPath.get(path);
    if (known !== undefined) return known;
    const { mode } = fs.statSync(path);
    const file = this.#files.push({ bytes: fs.readFileSync(path), mode, origin: path }) - 1;
    this.#byPath.set(path, file);
    return file;
  }
}

function keepInOrder(steps: readonly Step[], random: Random): Set<Step> {
  const last = steps.findLastIndex(({ kind }) => kind === 'sync' || kind === 'settle');
  return new Set(steps.slice(0, last + 1 + random.below(steps.length - last)));
}

function keepByLog(steps: readonly Step[], random: Random): Set<Step> {
  const kept = new Set(steps.slice(0, random.below(steps.length + 1)));
  const pending = new Map<string, Step[]>();
  for (const step of steps) {
    if (step.kind === 'settle') {
      for (const earlier of pending.get(step.path) ?? []) kept.add(earlier);
      pending.delete(step.path);
    } else if ('path' in step) {
      const folder = dirname(step.path);
      pending.set(folder, [...(pending.get(folder) ?? []), step]);
    }
  }
  return kept;
}

/** Possible contents of a file: those at the last fsync, and all, part or none of the later writes. */
function keepData(
  steps: readonly Step[],
  file: number,
  before: Buffer | undefined | '',
  random: Random,
): Buffer {
  let current = before || Buffer.alloc(0);
  let synced = current;
  for (const step of steps) {
    if (step.kind === 'data' && step.file === file) current = step.bytes;
    if (step.kind === 'sync' && step.file === file) synced = current;
  }
  if (current === synced) return current;
  // An append leaves the earlier contents alone.
  const sure = current.subarray(0, synced.length).equals(synced) ? synced.length : 0;
  const torn = current.subarray(0, sure + random.below(current.length - sure + 1));
  const choices = [synced, current, torn];
  return choices[random.below(choices.length)] ?? current;
}
