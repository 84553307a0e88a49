import { Sections } from '../../core/markdown/section-statements.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import {
  type EncodedObject,
  formatCommit,
  type ObjectType,
  type Oid,
  parseCommit,
} from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { listTree, type TreeEntry } from '../../git/objects/tree.ts';
import { withEntry } from '../../git/objects/tree-edit.ts';
import { pathChanges } from '../history/change-index.ts';
import { type Move, pairMoves } from '../history/comparison.ts';
import { type HistoryReader, isBelow, recordPath } from '../history/history-reader.ts';
import { entryAt, folderAt } from '../history/last-change.ts';
import { composeLog, storedChanges } from '../layout/entry-logs.ts';
import { storedFiles } from '../layout/layout-trees.ts';
import { isStoredApart } from '../layout/log-paths.ts';
import { takeSections } from '../merge/section-choice.ts';
import { partMessage, type SquashedCommit } from '../records/message.ts';
import { contributions, type PartFile, type ProposedLine, textAt } from './proposal-commits.ts';

/** A part of the changes of a line, as a commit on top of its base. */
export interface ProposedPart {
  readonly commit: Oid;
  /** The commit and what it needs, to be stored. */
  readonly objects: readonly EncodedObject[];
  /** The commits that made these changes, oldest first. */
  readonly commits: readonly SquashedCommit[];
}

const fileMode = '100644';

/** The changes of a line, record by record. Without a common commit, all its records are additions. */
export function proposedMoves(
  reader: HistoryReader,
  { base, tip }: Pick<ProposedLine, 'base' | 'tip'>,
): Move[] {
  const { history, versions } = reader;
  const changes =
    base === undefined
      ? pathChanges(history.repository.odb, undefined, history.tree(tip))
      : reader.changes(base, tip, undefined);
  return pairMoves(
    changes.filter(({ path }) => reader.mayRead(path)),
    versions,
  );
}

/**
 * Makes a commit of some records of a line, or of sections of records.
 *
 * The same part of the same line is always the same commit.
 *
 * @param addresses of records, folders and sections.
 * @throws MemoryError `not_found` for an address of which the line changes nothing, `invalid_input`.
 */
export function proposedPart(
  reader: HistoryReader,
  line: ProposedLine,
  addresses: readonly string[],
): ProposedPart {
  const { memory, repository } = reader.history;
  const writer = new PartWriter(repository.odb);
  const files = filesOf(reader, line, addresses);
  let tree = line.base === undefined ? undefined : treeOf(repository.odb, line.base);
  for (const [path, oid] of storedBlobs(reader, line, writer, [...files.values()])) {
    const mode = entryAt(repository.odb, line.tip, memory.inTree(path))?.mode ?? fileMode;
    tree = writer.tree(tree, memory.inTree(path), oid === undefined ? undefined : { mode, oid });
  }
  const commits = contributions(reader, line, files);
  const tip = { oid: line.tip, commit: parseCommit(repository.odb.content(line.tip, 'commit')) };
  const { author, committer } = (commits.at(-1) ?? tip).commit;
  const commit = writer.add(
    'commit',
    formatCommit({
      tree: tree ?? writer.add('tree', Buffer.alloc(0)),
      parents: line.base === undefined ? [] : [line.base],
      author,
      committer,
      message: partMessage(commits.length > 0 ? commits : [tip], [...files.keys()]),
    }),
  );
  return { commit, objects: writer.reachedFrom(commit), commits };
}

/** The blobs of the files that a part changes, as the base of its line stores them; undefined removes one. */
function storedBlobs(
  reader: HistoryReader,
  line: ProposedLine,
  writer: PartWriter,
  files: readonly PartFile[],
): readonly (readonly [path: string, oid: Oid | undefined])[] {
  const { memory, repository } = reader.history;
  const add = (text: string | undefined) =>
    text === undefined ? undefined : writer.add('blob', Buffer.from(text));
  const tree = line.base && folderAt(repository.odb, line.base, memory.inTree(''));
  const stored = storedFiles(repository.odb, tree);
  const textOf = ({ path, sections }: PartFile) =>
    sections && withSections(reader, line, path, sections);
  const isApart = ({ path }: PartFile) => stored !== undefined && isStoredApart(path);
  const edits = files.filter(isApart).map((file) => {
    const { path, blob } = file;
    const before = stored && composeLog(stored, path);
    return { path, before, after: textOf(file) ?? (blob && reader.versions.text(path, blob)) };
  });
  const changes = stored ? storedChanges(edits, stored, line.tip.slice(0, 8)) : [];
  return [
    ...files
      .filter((file) => !isApart(file))
      .map((file) => {
        const text = textOf(file);
        return [file.path, text === undefined ? file.blob : add(text)] as const;
      }),
    ...changes.map(({ path, after }) => [path, add(after)] as const),
  ];
}

/** Collects the objects of a part before they are stored. */
class PartWriter {
  readonly #odb: ObjectDatabase;
  readonly #objects = new Map<Oid, EncodedObject>();

  constructor(odb: ObjectDatabase) {
    this.#odb = odb;
  }

  add(type: ObjectType, content: Buffer): Oid {
    const object = this.#odb.encode(type, content);
    this.#objects.set(object.oid, object);
    return object.oid;
  }

  /** A tree with another entry at a path. */
  tree(tree: Oid | undefined, path: string, entry: TreeEntry | undefined): Oid | undefined {
    const source = {
      format: this.#odb.format,
      content: (oid: Oid, type: ObjectType) => {
        const made = this.#objects.get(oid);
        return made ? Buffer.from(made.content) : this.#odb.content(oid, type);
      },
    };
    return withEntry(source, tree, path.split('/'), entry, (bytes) => this.add('tree', bytes));
  }

  /** The collected objects that a commit needs: each file makes trees that the next one replaces. */
  reachedFrom(commit: Oid): EncodedObject[] {
    const found = new Map<Oid, EncodedObject>();
    const open = [commit];
    for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
      const object = this.#objects.get(oid);
      if (!object || found.has(oid)) continue;
      found.set(oid, object);
      const content = Buffer.from(object.content);
      if (object.type === 'commit') open.push(parseCommit(content).tree);
      if (object.type === 'tree')
        open.push(...listTree(content, this.#odb.format).map((entry) => entry.oid));
    }
    return [...found.values()];
  }
}

/** The files that addresses name, by path. */
function filesOf(
  reader: HistoryReader,
  line: ProposedLine,
  addresses: readonly string[],
): ReadonlyMap<string, PartFile> {
  const moves = proposedMoves(reader, line);
  const files = new Map<string, PartFile>();
  for (const address of addresses) {
    const { path: given, section } = parseAddress(pastedPath(address));
    const path = recordPath(given);
    reader.checkRead(path);
    const found = moves.filter(({ change }) => isPartOf(change, path));
    if (found.length === 0) throw noChange(line.name, address);
    for (const { change, after } of found) {
      const known = files.get(change.path);
      const sections =
        section === undefined || (known && !known.sections)
          ? undefined
          : new Set([...(known?.sections ?? []), section]);
      files.set(change.path, { path: change.path, blob: after, sections });
      if (change.from !== undefined) {
        files.set(change.from, { path: change.from, blob: undefined, sections: undefined });
      }
    }
  }
  return files;
}

function isPartOf(change: Move['change'], path: string): boolean {
  return isBelow(change.path, path) || (change.from !== undefined && isBelow(change.from, path));
}

/** The text of a record at the base of a line, with some sections as the line has them. */
function withSections(
  reader: HistoryReader,
  line: ProposedLine,
  path: string,
  wanted: ReadonlySet<string>,
): string {
  const [before, after] = [line.base, line.tip].map((oid) => textAt(reader, oid, path));
  if (before === undefined && after !== undefined && /^\uFEFF?---[ \t]*\r?\n/.test(after)) {
    throw new MemoryError('invalid_input', `${path} is a new record.`, {
      hint: `Give it as a whole: ${path}.`,
    });
  }
  return chosenSections(path, before ?? '', after ?? '', wanted, line.name);
}

/**
 * Takes named sections of a later text into an earlier one.
 *
 * @throws MemoryError `not_found` for a section that neither has, or that is the same in both.
 */
export function chosenSections(
  path: string,
  before: string,
  after: string,
  wanted: Iterable<string>,
  name: string,
): string {
  const [old, now] = [new Sections(path, before), new Sections(path, after)];
  const starts = [...wanted].map((section) => {
    const earlier = old.find(section);
    // A section that neither has is an unknown one.
    const later = earlier ? now.find(section) : now.at(section);
    const places = { old: earlier?.start, now: later?.start };
    if (take([places]) === before) throw noChange(name, `${path}#${section}`);
    return places;
  });
  return take(starts);

  function take(places: readonly { old: number | undefined; now: number | undefined }[]): string {
    return takeSections(before, after, ({ start }, isOfBefore) =>
      places.some((place) => place[isOfBefore ? 'old' : 'now'] === start),
    );
  }
}

function noChange(name: string, address: string): MemoryError {
  return new MemoryError('not_found', `${name} changes nothing of ${JSON.stringify(address)}.`, {
    hint: 'It may be accepted already. Give a record, a folder, or a section after "#", as the list of the changes names them.',
    data: { path: address },
  });
}
