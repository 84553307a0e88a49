import { constants, existsSync } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MemoryError } from '../core/error.ts';

/** A folder that may hold rule files; it is only read. */
export interface RuleFolder {
  /** The names of what is in it; none when there is no such folder. */
  names(): Promise<readonly string[]>;
  /** A text that changes whenever the file does; undefined when it is gone. */
  stamp(name: string): Promise<string | undefined>;
  /**
   * The text of a file, cut after `limit` bytes.
   *
   * @throws MemoryError whose message is the reason why it cannot be read.
   */
  read(name: string, limit: number): Promise<string>;
}

/** A folder on disk, given by its absolute path. */
export function ruleFolder(path: string): RuleFolder {
  return {
    async names() {
      return (await unlessMissing(readdir(path))) ?? [];
    },
    async stamp(name) {
      const stat = await unlessMissing(lstat(join(path, name), { bigint: true }));
      return stat && [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
    },
    async read(name, limit) {
      return (await unlessMissing(readPlainFile(join(path, name), limit))) ?? '';
    },
  };
}

async function readPlainFile(path: string, limit: number): Promise<string> {
  if (!(await lstat(path)).isFile()) throw new MemoryError('unsupported', 'is not a plain file');
  // It may have become a link or a pipe by now: neither is followed or waited for.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(limit), 0, limit, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (error instanceof MemoryError) throw error;
    throw new MemoryError('storage', `cannot be read (${code})`, { cause: error });
  }
}

/** The rule files that come with the program: `rules/` beside its package.json. */
export function builtInRules(): RuleFolder {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return ruleFolder(join(folder, 'rules'));
}
