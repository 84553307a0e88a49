import { join } from 'node:path';
import { type Files, lookThrough } from '../disk/file-layer.ts';

/** Limit of links to folders on the way to a file: links can lead in circles. */
const maxLinks = 5;

/** Characters and forms that a ref name must not contain (git-check-ref-format). */
const refused = /\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$|@\{|[\0- \x7f~^:?*[\\]/;

/** Whether git accepts a full name of a ref: any other name could lead out of the folder of refs. */
export function isRefName(name: string): boolean {
  return name.startsWith('refs/') && !refused.test(name);
}

/** The name in the value of a symbolic ref; undefined for a name that git rejects, which could lead elsewhere. */
export function targetOf(value: string): string | undefined {
  const name = /^ref: (refs\/.+)/.exec(value)?.[1]?.trim();
  return name !== undefined && isRefName(name) ? name : undefined;
}

/**
 * Lists the paths of all files below a folder, relative to `top`: loose refs, locks and strays.
 *
 * Links to folders are followed, as git does, but not one to a folder that contains it.
 */
export function filesBelow(files: Files, top: string, folder: string, links = 0): string[] {
  return (files.list(join(top, folder)) ?? []).flatMap(({ name, kind }) => {
    const path = `${folder}/${name}`;
    if (kind === 'directory') return filesBelow(files, top, path, links);
    const isFolder = kind === 'link' && lookThrough(files, join(top, path))?.kind === 'directory';
    if (!isFolder) return [path];
    const target = files.realpath(join(top, path)) ?? '';
    const here = files.realpath(join(top, folder)) ?? '';
    const isCircle = `${here}/`.startsWith(`${target}/`);
    return isCircle || links === maxLinks ? [] : filesBelow(files, top, path, links + 1);
  });
}
