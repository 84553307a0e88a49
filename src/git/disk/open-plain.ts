import * as fs from 'node:fs';

const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 } = fs.constants;

/** Flags for reading that do not wait for the writer of a pipe and acquire no terminal. */
export const withoutWaiting = O_RDONLY | O_NONBLOCK | O_NOCTTY;

/** How often a file may be replaced while it is opened. */
const attempts = 10;

/**
 * Opens a file for reading unless it is a link; returns undefined for a link.
 *
 * @param noFollow the flag that lets the system refuse a link; 0 where it has none, as on Windows.
 * @throws the system's error, such as ENOENT.
 */
export function openPlain(
  path: string,
  noFollow = O_NOFOLLOW,
  system: Pick<typeof fs, 'lstatSync' | 'openSync' | 'fstatSync' | 'closeSync'> = fs,
): number | undefined {
  if (noFollow !== 0) return openNoFollow(path, noFollow);
  for (let attempt = 0; attempt < attempts; attempt++) {
    // As bigint: the file ids of NTFS have 64 bits, and near ones are the same number if rounded.
    const named = system.lstatSync(path, { bigint: true });
    if (!named.isFile()) return undefined;
    const fd = system.openSync(path, withoutWaiting);
    // A link that has replaced the file since then was followed.
    if (system.fstatSync(fd, { bigint: true }).ino === named.ino) return fd;
    system.closeSync(fd);
  }
  const message = `EBUSY: ${path} is replaced all the time`;
  throw Object.assign(new Error(message), { code: 'EBUSY', path });
}

function openNoFollow(path: string, noFollow: number): number | undefined {
  try {
    return fs.openSync(path, withoutWaiting | noFollow);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ELOOP' || code === 'ENXIO') return undefined;
    throw error;
  }
}
