export { folderOf } from '../../git/disk/folder.ts';

/** The last segment of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A path below a folder of the bank; the bank's own folder is empty. */
export function join(folder: string, name: string): string {
  return folder === '' || name === '' ? folder + name : `${folder}/${name}`;
}
