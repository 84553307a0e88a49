export { folderOf } from '../../git/disk/folder.ts';

/** The last segment of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Joins a folder of the memory and a name; the memory folder itself is `''`. */
export function join(folder: string, name: string): string {
  return folder === '' || name === '' ? folder + name : `${folder}/${name}`;
}
