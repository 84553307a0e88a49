import { createHash } from 'node:crypto';

/** A folder with this many entries is full: new records go into sub-folders of it. */
export const fullFolder = 256;

/**
 * Returns the path of a record in one of 64 sub-folders of its folder, chosen by its name.
 *
 * Each commit rewrites the trees above a record, which is 340 KB for a flat folder of 10,000 records.
 * At that number 64 sub-folders make the smallest commits: with fewer, each sub-folder is larger, and
 * with more, the folder above them is. No encoded name contains `+`, so the name of a sub-folder cannot
 * be the name of a record.
 */
export function fanOutPath(path: string): string {
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  const [byte = 0] = createHash('sha1').update(name).digest();
  const folder = (byte % 64).toString(16).padStart(2, '0');
  return `${path.slice(0, slash + 1)}+${folder}/${name}`;
}
