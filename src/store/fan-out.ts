import { createHash } from 'node:crypto';

/** A folder of records with this many entries is full: what comes new goes into sub-folders of it. */
export const fullFolder = 256;

/**
 * Where a record lies when its folder was full: one of 256 sub-folders, chosen by its name.
 *
 * Each commit writes the trees above a record anew; a flat folder of 10,000 records would cost 340 KB
 * a time. `+` stands in no encoded name, so the sub-folder cannot be anything else.
 */
export function fanOutPath(path: string): string {
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  const hash = createHash('sha1').update(name).digest('hex').slice(0, 2);
  return `${path.slice(0, slash + 1)}+${hash}/${name}`;
}
