import { folderOf } from '../../git/disk/folder.ts';
import type { Oid } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import type { CodeNow } from '../evidence/judged-places.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import type { Break } from './break-search.ts';
import type { Claim, OpenClaim } from './claim.ts';
import { decodeDoc, isRetired, maxDocBytes } from './doc-files.ts';
import { scripts } from './name-sources.ts';
import type { ProjectTree } from './project-tree.ts';

/** Limit of the files of a removed folder that are compared. */
const maxFiles = 20;

/** Finds what broken claims have to say now, where the commit that broke them has only renamed something. */
export class NewNames {
  readonly #reader: HistoryReader;
  readonly #now: CodeNow;
  readonly #tree: ProjectTree;
  /** New paths by the commit and the old path: many claims name the same file. */
  readonly #paths = new Map<string, string | undefined>();

  constructor(reader: HistoryReader, now: CodeNow, tree: ProjectTree) {
    [this.#reader, this.#now, this.#tree] = [reader, now, tree];
  }

  /** The claim with the new name; undefined where no single one is certain. */
  find(doc: string, claim: Claim, broken: Break): string | undefined {
    if ('paths' in claim) {
      const path = claim.isPattern ? undefined : this.#pathAfter(broken);
      return path === undefined
        ? undefined
        : this.#written(doc, claim.text, claim.kind, broken.path, path);
    }
    if (claim.kind !== 'script') return undefined;
    const renamed = this.#scriptAfter(claim.name, broken);
    if (renamed === undefined) return undefined;
    return `${claim.text.slice(0, -claim.name.length)}${renamed}`;
  }

  /**
   * Whether the history proves that a claim is not true: git does not ignore what it names, and no other
   * file has its name, unless it was moved there.
   */
  isCertain({ claim, elsewhere }: OpenClaim, broken: Break): boolean {
    if (!('paths' in claim)) return true;
    if (!claim.isPattern && claim.paths.some((path) => this.#tree.isUnknown(path))) return false;
    if (elsewhere.length === 0) return true;
    const to = this.#pathAfter(broken);
    return to !== undefined && elsewhere.includes(to);
  }

  /** Where a removed file or folder was moved to. */
  #pathAfter(broken: Break): string | undefined {
    const key = `${broken.commit} ${broken.path}`;
    if (!this.#paths.has(key)) this.#paths.set(key, this.#findPath(broken));
    return this.#paths.get(key);
  }

  #findPath({ commit, parent, path, before }: Break): string | undefined {
    const to =
      before === undefined
        ? this.#folderAfter(commit, parent, path)
        : this.#fileAfter(commit, path);
    if (to === undefined || !this.#tree.has(to)) return undefined;
    // It was put away, and something else may have its task.
    return isRetired(`${to}/`) && !isRetired(`${path}/`) ? undefined : to;
  }

  #fileAfter(commit: Oid, path: string): string | undefined {
    const { code, renames } = this.#now;
    const own = code.inProject(path);
    const to = own === undefined ? undefined : renames.renamedIn(commit, own);
    return to === undefined ? undefined : code.inTree(to);
  }

  /** The folder to which all files of another one were moved. */
  #folderAfter(commit: Oid, parent: Oid, folder: string): string | undefined {
    const { odb } = this.#reader.history.code.repository;
    const inFolder = (at: string) =>
      `${folder}/`.startsWith(`${at}/`) || at.startsWith(`${folder}/`);
    const removed: string[] = [];
    for (const { path, after } of differences(
      odb,
      treeOf(odb, parent),
      treeOf(odb, commit),
      '',
      inFolder,
    )) {
      if (path.startsWith(`${folder}/`) && !after) removed.push(path);
    }
    if (removed.length > maxFiles) return undefined;
    const targets = removed.map((path) => {
      const to = this.#fileAfter(commit, path);
      const tail = path.slice(folder.length);
      return to?.endsWith(tail) ? to.slice(0, -tail.length) : undefined;
    });
    const [first] = targets;
    return first !== undefined && targets.every((one) => one === first) ? first : undefined;
  }

  /** The script that has the command of a removed one, and did not exist before. */
  #scriptAfter(name: string, { before, after }: Break): string | undefined {
    const { odb } = this.#reader.history.code.repository;
    const read = (blob: Oid | undefined) => {
      if (blob === undefined || odb.size(blob) > maxDocBytes) return undefined;
      return scripts.read(decodeDoc(odb.content(blob, 'blob')) ?? '')?.names;
    };
    const [old, now] = [read(before), read(after)];
    const command = old?.get(name);
    if (!old || !now || command === undefined) return undefined;
    const same = [...now].filter(([other, text]) => text === command && !old.has(other));
    return same.length === 1 ? same[0]?.[0] : undefined;
  }

  /** A new path in the form in which the claim names the old one. */
  #written(doc: string, text: string, kind: string, old: string, path: string): string | undefined {
    const end = text.endsWith('/') ? '/' : '';
    if (kind === 'link') return encoded(relative(folderOf(doc), path)) + end;
    // The folder to which the claim was relative.
    const bare = text.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
    const start = text.startsWith('./') ? './' : '';
    const base = old.slice(0, old.length - bare.length);
    if (base + bare !== old) return undefined;
    return path.startsWith(base) ? start + path.slice(base.length) + end : path + end;
  }
}

function relative(folder: string, path: string): string {
  const from = folder === '' ? [] : folder.split('/');
  const to = path.split('/');
  let same = 0;
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same++;
  return [...from.slice(same).map(() => '..'), ...to.slice(same)].join('/');
}

function encoded(path: string): string {
  return path
    .replaceAll('%', '%25')
    .replaceAll(' ', '%20')
    .replaceAll('(', '%28')
    .replaceAll(')', '%29');
}
