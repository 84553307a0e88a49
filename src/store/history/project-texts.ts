import type { Repository } from '../../git/commit/repository.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { folderMode, listTree } from '../../git/objects/tree.ts';
import type { Steps } from '../records/slices.ts';
import type { ProjectText } from '../search/meaning/training-matrix.ts';

/** Limits of the commits, folders and documents that are read. */
const maxCommits = 1000;
const maxFolders = 500;
const maxDocuments = 200;
const maxDocumentBytes = 64 * 1024;
/** Limit of one text, in characters. */
const maxText = 4000;
/** A shorter paragraph, such as a heading, has too few words to learn from. */
const leastText = 40;
const document = /\.(?:md|mdx|rst|adoc|txt)$/i;
/** The files at the top that say what a project is. */
const manifest =
  /^(?:package\.json|pyproject\.toml|cargo\.toml|composer\.json|go\.mod|pom\.xml|build\.gradle(?:\.kts)?)$/i;
const maxParagraphs = 2000;
/** Folders with texts of other projects. */
const foreign = /^(?:node_modules|vendor|third_party)$/i;

/**
 * Reads texts of a project that are not records: commit messages and paragraphs of its documents.
 *
 * @param folder the memory folder, relative to the top of the work tree; it is left out.
 * @param limit the most texts; half of them are for commit messages.
 */
export function* projectTexts(
  repository: Pick<Repository, 'odb' | 'refs'>,
  folder: string,
  limit: number,
): Steps<ProjectText[]> {
  const { odb, refs } = repository;
  const head = refs.head().oid;
  if (head === undefined) return [];
  const messages = yield* messagesOf(odb, head, Math.min(maxCommits, Math.ceil(limit / 2)));
  const paragraphs = yield* paragraphsOf(odb, head, folder, limit - messages.length);
  return [...messages, ...paragraphs];
}

/** Reads the paragraphs of the documents of a project, and its manifest, as HEAD has them. */
export function* projectDocuments(
  { odb, refs }: Pick<Repository, 'odb' | 'refs'>,
  folder: string,
): Steps<string[]> {
  const head = refs.head().oid;
  if (head === undefined) return [];
  const isText = (path: string) => document.test(path) || manifest.test(path);
  const found = yield* paragraphsOf(odb, head, folder, maxParagraphs, isText);
  return found.map(({ text }) => text);
}

/** The messages of the last commits, except those of the memory: its records have the same words. */
function* messagesOf(odb: ObjectDatabase, head: Oid, limit: number): Steps<ProjectText[]> {
  const texts: ProjectText[] = [];
  const seen = new Set([head]);
  for (const oid of seen) {
    if (seen.size > 2 * maxCommits || texts.length >= limit) break;
    // A shallow clone ends somewhere.
    if (!odb.has(oid)) continue;
    const { message, parents } = parseCommit(odb.content(oid, 'commit'));
    for (const parent of parents) seen.add(parent);
    if (!/^Memory-Tool: /m.test(message)) {
      texts.push({ id: `commit ${oid}`, text: message.slice(0, maxText) });
    }
    yield;
  }
  return texts;
}

function* paragraphsOf(
  odb: ObjectDatabase,
  head: Oid,
  memory: string,
  limit: number,
  isText = (path: string) => document.test(path),
): Steps<ProjectText[]> {
  const texts: ProjectText[] = [];
  const folders: [path: string, tree: Oid][] = [['', treeOf(odb, head)]];
  let documents = 0;
  // The list grows while it is read, so that documents near the top come first.
  for (const [path, tree] of folders) {
    for (const { name, mode, oid } of listTree(odb.content(tree, 'tree'), odb.format)) {
      const at = path === '' ? name : `${path}/${name}`;
      if (mode === folderMode) {
        const isOwn = at !== memory && !name.startsWith('.') && !foreign.test(name);
        if (isOwn && folders.length < maxFolders) folders.push([at, oid]);
      } else if (isText(at) && documents < maxDocuments) {
        if (!odb.has(oid) || odb.size(oid) > maxDocumentBytes) continue;
        documents += 1;
        for (const [index, text] of paragraphs(odb.content(oid, 'blob'))) {
          if (texts.length >= limit) return texts;
          texts.push({ id: `document ${at} ${index}`, text });
        }
      }
      yield;
    }
  }
  return texts;
}

function paragraphs(bytes: Buffer): [index: number, text: string][] {
  // Not a text.
  if (bytes.includes(0)) return [];
  const all = bytes.toString('utf8').split(/\r?\n[ \t]*\r?\n/);
  return [...all.entries()]
    .filter(([, text]) => text.trim().length >= leastText)
    .map(([index, text]) => [index, text.slice(0, maxText)]);
}
