import { sep } from 'node:path';

/** A path as other systems write it. */
export function slashed(path: string): string {
  return path.split(sep).join('/');
}
