import { basename, dirname, join } from 'node:path/posix';
import type { ExportSource } from '../../core/declarations/exchange-format.ts';
import { formatPlace } from '../../core/evidence/annotations.ts';
import { fenced } from '../../core/markdown/fence.ts';
import { readStatements } from '../../core/markdown/section-statements.ts';
import { contentStart } from '../../core/markdown/sections.ts';
import type { Located } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import { foldName } from '../../core/names/file-name.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { unknownKeys } from '../../core/record/shape.ts';
import { annotationKeys } from '../../core/values/annotation-keys.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { textKeys, withKeys } from '../../core/yaml/text-keys.ts';
import { conceptText, ownKey, splitHead } from './concept-file.ts';
import { commitsByPath, type RecordCommits, trustKeys } from './concept-trust.ts';

/** The folder of a bundle with the records, and that of the memory with the files of other bundles. */
export const recordFolder = 'memory';
export const bundleFolder = 'okf';

/** Names that the format gives a meaning of their own. */
const reserved = /^(?:index|log)\.md$/i;
const maxTitle = 200;
const maxDescription = 160;

/** A record that becomes a concept file. */
interface Exported extends Located<object> {
  readonly type: AnyRecordType;
  readonly text: string;
  /** The path of its file in the bundle. */
  readonly file: string;
  readonly commits: RecordCommits;
}

/** Writes the records of a memory as a bundle: the files by their paths. */
export async function writeBundle(
  types: readonly AnyRecordType[],
  source: ExportSource,
): Promise<ReadonlyMap<string, string>> {
  const records = await exportedRecords(types, source);
  if (records.length === 0) return new Map();
  const files = new Map([['index.md', indexOf(records)]]);
  const links = new Map(records.map(({ type, key, file }) => [`${type.name} ${key}`, file]));
  for (const record of records) {
    const { path, file, text } = record;
    const isInPlace = path === `${bundleFolder}/${file}`;
    const kept = isInPlace ? untouched(path, text) : undefined;
    files.set(file, kept ?? concept(record, links));
  }
  return files;
}

async function exportedRecords(
  types: readonly AnyRecordType[],
  { project, home, history, texts }: ExportSource,
): Promise<readonly Exported[]> {
  const commits = await commitsByPath(history);
  const records: Exported[] = [];
  const taken = new Set([foldName('index.md')]);
  const add = async (type: AnyRecordType, from: Reader, read?: (path: string) => string) => {
    for (const record of (await from.list(type)).records) {
      const { path, value } = record;
      const text = read ? read(path) : type.codec.encode(value);
      records.push({
        ...record,
        type,
        text,
        file: fileOf(path, text, taken),
        commits: (read && commits.get(path)) ?? { confirmed: [] },
      });
    }
  };
  const text = await texts();
  for (const type of types) await add(type, project, text);
  const personal = await home();
  for (const type of types) await add(type, personal);
  return records;
}

/** The path of a record in the bundle, which no file system takes for that of another one. */
function fileOf(path: string, text: string, taken: Set<string>): string {
  const isReserved = reserved.test(basename(path)) && untouched(path, text) === undefined;
  const isForeign = path.startsWith(`${bundleFolder}/`) && !isReserved;
  const own = isForeign ? path.slice(bundleFolder.length + 1) : `${recordFolder}/${path}`;
  const named = own.endsWith('.md') ? own : `${own.replace(/\.yaml$/, '')}.md`;
  const isName = isForeign || !reserved.test(basename(named));
  const stem = named.slice(0, -'.md'.length);
  for (let i = isName ? 1 : 2; ; i++) {
    const file = i === 1 ? named : `${stem}-${i}.md`;
    if (taken.has(foldName(file))) continue;
    taken.add(foldName(file));
    return file;
  }
}

/** The text of a file that came from another bundle, unless the memory or a person has added to it. */
function untouched(path: string, text: string): string | undefined {
  if (!path.startsWith(`${bundleFolder}/`)) return undefined;
  const { data } = textKeys(text, true);
  const isOpen = typeof data.type === 'string' || reserved.test(basename(path));
  const { evidence, supersedes, superseded_by, claim, verified } = data;
  const isVerified = isObject(verified) && verified.commit !== undefined;
  const added = [evidence, supersedes, superseded_by, claim, data[ownKey]];
  if (!isOpen || isVerified || added.some((key) => key !== undefined)) return undefined;
  return withKeys(text, { expires: undefined } as JsonObject, true);
}

function concept(record: Exported, links: ReadonlyMap<string, string>): string {
  const { type, path, text } = record;
  const keys = conceptKeys(record);
  const own = { record: type.name, path };
  const { head, body } = splitHead(text);
  if (path.endsWith('.md')) {
    const open = { ...keys, [ownKey]: { ...own, ...(head !== undefined && { head }) } };
    const whole = conceptText(open, body);
    if (whole !== undefined) return whole;
  }
  const language = /[^.]*$/.exec(path)?.[0] ?? '';
  const shown = `${readable(record, links)}\n# Record\n\n${fenced(`${text}\n`, language)}\n`;
  const closed = { [ownKey]: { ...own, fenced: true } };
  // Keys of a person can be too large for it; the text of the record has them.
  const few = conceptText({ type: words(type.name), ...closed }, shown) ?? '';
  return conceptText({ ...keys, ...closed }, shown) ?? few;
}

function conceptKeys({ type, path, value, text, commits }: Exported): JsonObject {
  const { annotations } = readStatements(path, text);
  const { title, body = '', category, type: kind } = type.search(value);
  const sources = annotations.evidence.map((one) => ({ resource: formatPlace(one) }));
  const tags = [category, kind].filter((tag) => tag !== undefined);
  const line = oneLine(summary(body));
  const { sources: given, ...foreign } = foreignKeys(type, path, value, text);
  const all = [...(Array.isArray(given) ? given : []), ...sources];
  const isTyped = typeof foreign.type === 'string' && foreign.type.trim() !== '';
  return {
    type: words(type.name),
    title: oneLine(title).slice(0, maxTitle),
    ...(line !== '' && { description: line.slice(0, maxDescription) }),
    ...(tags.length > 0 && { tags }),
    ...foreign,
    ...(!isTyped && { type: words(type.name) }),
    ...(all.length > 0 && { sources: all }),
    ...trustKeys(annotations, commits),
  };
}

/** The keys of a record's file that neither its type nor this program knows. */
export function foreignKeys(
  type: AnyRecordType,
  path: string,
  value: object,
  text: string,
): JsonObject {
  const isMarkdown = path.endsWith('.md');
  // A file that is not markdown and a value as a whole has a meaning of its own.
  if (!isMarkdown && Object.values(value).includes(text)) return {};
  const keys = unknownKeys(type.schema, textKeys(text, isMarkdown).data);
  return Object.fromEntries(
    Object.entries(keys).filter(([key]) => !annotationKeys.includes(key) && key !== ownKey),
  );
}

/** A record that is not markdown as a text for people, with links to those that it depends on. */
function readable({ type, path, value }: Exported, links: ReadonlyMap<string, string>): string {
  const { title, body: own = '', notes = '' } = type.search(value);
  // The text of a markdown record is long, and is in its file for a reader as well.
  const body = path.endsWith('.md') ? '' : own;
  const related = (type.dependsOn?.(value) ?? []).map(({ type: other, key }) => {
    const target = links.get(`${other.name} ${key}`);
    const name = `${words(other.name)} ${key}`;
    return target === undefined ? `- ${name}` : `- [${escaped(name)}](${linkTo(target)})`;
  });
  return `${[`# ${oneLine(title)}`, body, notes, related.join('\n')].filter((part) => part !== '').join('\n\n')}\n`;
}

/** The list of all files of a bundle, by folder. */
function indexOf(records: readonly Exported[]): string {
  const folders = new Map<string, string[]>();
  for (const { type, value, file } of records) {
    const { title, body = '' } = type.search(value);
    const line = oneLine(summary(body)).slice(0, maxDescription);
    const entry = `* [${escaped(oneLine(title).slice(0, maxTitle))}](${linkTo(file)})`;
    const list = folders.get(dirname(file)) ?? [];
    list.push(line === '' ? entry : `${entry} - ${line}`);
    folders.set(dirname(file), list);
  }
  const sections = [...folders].map(([folder, list]) => `# ${folder}\n\n${list.join('\n')}\n`);
  return `---\nokf_version: "0.2"\n---\n\n${sections.join('\n')}`;
}

function linkTo(file: string): string {
  return join('/', file).split('/').map(encodeURIComponent).join('/');
}

/** The first line of a text that is neither a heading nor markup. */
function summary(body: string): string {
  const text = body.slice(contentStart(body));
  return text.split('\n').find((line) => /^\s*[\p{L}\p{N}`"'*_[(]/u.test(line)) ?? '';
}

function words(name: string): string {
  return name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => ` ${letter.toUpperCase()}`).trim();
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function escaped(text: string): string {
  return text.replace(/[\\[\]]/g, '\\$&');
}
