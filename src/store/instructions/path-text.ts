import { Minimatch } from 'minimatch';
import { folderOf } from '../../git/disk/folder.ts';

/** A text that can be a path of the project. */
export interface PathText {
  /** The path as it is written, without a line number. */
  readonly text: string;
  /** The path without `./` and without `/` at its end. */
  readonly path: string;
  readonly isPattern: boolean;
  /** Whether it is a name without folders. */
  readonly isBare: boolean;
}

const maxPath = 300;
/** Wildcards of one pattern; more of them could take long to match. */
const maxWildcards = 6;
const place = /(?::\d+(?:[-:,]\d+)*|#L\d+(?:-L?\d+)?)$/;
const plain = /^[\w.@+()[\]-]+(?:\/[\w.@+()[\]-]+)*\/?$/;
const pattern = /^[\w.@+-]+(?:\/[\w.@+{},*-]+)+\/?$/;
const bare =
  /^(?:\.?[\w-]+(?:\.[\w-]+){0,3}\.(?!(?:com|org|net|io|dev)$)[A-Za-z][A-Za-z0-9]{0,9}|(?:GNU)?[Mm]akefile|Dockerfile|[Jj]ustfile|Procfile|Gemfile|Rakefile|Vagrantfile|Jenkinsfile|Brewfile)$/;
/** Parts of paths that stand for others. */
const placeholder =
  /(?:^|[/._-])(?:foo|bar|baz|qux|my|your|path\/to|xxx+|yyyy|nnn+|some|something|placeholder|acme)(?:[/._-]|$)/i;

/** Reads a text as a path; undefined for one that leads out of the project, or that stands for others. */
export function toPath(given: string): PathText | undefined {
  if (given.length > maxPath) return undefined;
  const text = given.replace(place, '');
  const path = text.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
  if (path === '' || path.startsWith('/') || placeholder.test(path)) return undefined;
  if (path.split('/').some((part) => /^\.*$/.test(part) || part === '.git')) return undefined;
  const isPattern = /[*{]/.test(path);
  const isBare = !text.includes('/');
  if (isPattern) {
    const wildcards = path.match(/[*{,]/g)?.length ?? 0;
    if (!pattern.test(path) || wildcards > maxWildcards || /\*{3}|[{][^}]*$/.test(path))
      return undefined;
  } else if (isBare ? !bare.test(path) : !plain.test(text.replace(/^(?:\.\/)+/, '')))
    return undefined;
  return { text, path, isPattern, isBare };
}

/** A path without `..` that is relative to a folder, as a path of the repository. */
export function below(folder: string, path: string): string {
  return folder === '' ? path : `${folder}/${path}`;
}

/** A path relative to a folder as a path of the repository; undefined for one that leads out of it. */
export function pathIn(folder: string, path: string): string | undefined {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.includes('.git') ? undefined : parts.join('/');
}

/** The folders that a path of a file can be relative to: its own one, and those around it. */
export function basesOf(doc: string): string[] {
  const bases: string[] = [];
  for (let folder = folderOf(doc); ; folder = folderOf(folder)) {
    bases.push(folder);
    if (folder === '') return bases;
  }
}

/** Files by a path with wildcards. */
export class PathPattern {
  /** The folder below which all of its files are; ends in `/` or is empty. */
  readonly base: string;
  readonly #match: Minimatch;

  constructor(path: string) {
    const start = path.slice(0, path.search(/[*{]/));
    this.base = start.slice(0, start.lastIndexOf('/') + 1);
    this.#match = new Minimatch(path, { dot: true, noext: true, nonegate: true });
  }

  matches(path: string): boolean {
    return path.startsWith(this.base) && this.#match.match(path);
  }
}
