import { createHash } from 'node:crypto';

/** A folder of records with this many entries is full: what comes new goes into sub-folders of it. */
export const fullFolder = 256;

/**
 * Where a record lies when its folder was full: one of 64 sub-folders, chosen by its name.
 *
 * Each commit writes the trees above a record anew; a flat folder of 10,000 records would cost 340 KB
 * a time. At that number a commit is smallest with 64 sub-folders: fewer are larger themselves, more of
 * them make the folder above larger. `+` stands in no encoded name, so a sub-folder cannot be anything
 * else.
 */
export function fanOutPath(path: string): string {
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  const [byte = 0] = createHash('sha1').update(name).digest();
  const folder = (byte % 64).toString(16).padStart(2, '0');
  return `${path.slice(0, slash + 1)}+${folder}/${name}`;
}
