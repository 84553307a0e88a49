import {
  Gathering,
  type ImportedRecord,
  isoTime,
  type Source,
} from '../../core/declarations/exchange-format.ts';
import { fileNameProblem, foldName } from '../../core/names/file-name.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { unknownKeys } from '../../core/record/shape.ts';
import { annotationKeys } from '../../core/values/annotation-keys.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { withKeys } from '../../core/yaml/text-keys.ts';
import { isUnusedTemplate } from '../../toolsets/index.ts';
import { type ConceptFile, type ConceptRecord, lastFenced, readConcept } from './concept-file.ts';
import { bundleFolder } from './concept-writer.ts';

/** A larger file is not read, in bytes; the largest record is half as large. */
const maxConceptBytes = 4 * 1024 * 1024;

/** The keys of a concept that an export makes again. */
const derived = [
  'type',
  'title',
  'description',
  'tags',
  'sources',
  'generated',
  'verified',
  'status',
  'stale_after',
];

/** Reads the concept files of a bundle as records; see `ExchangeFormat.read`. */
export function* readBundle(types: readonly AnyRecordType[], source: Source) {
  const gathering = new Gathering();
  const names = new Map<string, string>();
  // Of records with the same name, the first one gets the shorter path again.
  const files = [...source.files].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  for (const file of files) {
    gathering.attempt(file, () => {
      if (file === 'index.md')
        return gathering.note(file, 'is a list of the files: an export writes a new one');
      if (!file.endsWith('.md')) return gathering.leave(file, 'is not a markdown file');
      const twin = names.get(foldName(file));
      if (twin !== undefined) {
        return gathering.leave(file, `differs from ${twin} in letter case or Unicode form only`);
      }
      names.set(foldName(file), file);
      if (source.bytes(file).length > maxConceptBytes) {
        throw new MemoryError('too_large', `It has more than ${maxConceptBytes} bytes.`);
      }
      const text = source.text(file);
      const isHistory = /(?:^|\/)(?:index|log)\.md$/.test(file);
      const concept = isHistory ? undefined : readConcept(text);
      const found = concept?.own
        ? restored(types, concept, concept.own, gathering, file)
        : foreign(types, file, text, concept?.keys ?? {}, gathering);
      gathering.found.push({ ...found, from: file });
    });
    yield;
  }
  return gathering;
}

/** The record that an export has written. */
function restored(
  types: readonly AnyRecordType[],
  { keys, body }: ConceptFile,
  { record, path, head, fenced }: ConceptRecord,
  gathering: Gathering,
  from: string,
): Omit<ImportedRecord, 'from'> {
  const type = types.find(({ name }) => name === record);
  const isMarkdown = path.endsWith('.md');
  const problem = fileNameProblem(isMarkdown ? path : `${path}.md`);
  if (!type?.owns(path) || problem !== undefined) {
    const reason = problem ?? `is not that of a ${JSON.stringify(record)}`;
    throw new MemoryError('damaged', `Its path ${JSON.stringify(path)} ${reason}.`);
  }
  const text = fenced ? lastFenced(body) : `${head ?? ''}${body}`;
  const value = type.codec.decode(text, path);
  const added = Object.entries(unknownKeys(type.schema, keys)).filter(
    ([key]) => !derived.includes(key) && !annotationKeys.includes(key),
  );
  const isWhole = !isMarkdown && Object.values(value).includes(text);
  if (isWhole) {
    for (const [key] of added)
      gathering.note(from, `its "${key}" is left out: the record has no place for it`);
  }
  const written = isWhole ? text : withKeys(text, Object.fromEntries(added), isMarkdown);
  return {
    type,
    value: type.codec.decode(written, path),
    written,
    replaces: (present) => isUnusedTemplate(present),
    home: path.startsWith('banks/global/'),
  };
}

/** A concept of another program as a file of the memory, byte for byte except for the last day. */
function foreign(
  types: readonly AnyRecordType[],
  file: string,
  text: string,
  keys: JsonObject,
  gathering: Gathering,
): Omit<ImportedRecord, 'from'> {
  const path = `${bundleFolder}/${file}`;
  const problem = fileNameProblem(path);
  if (problem !== undefined) throw new MemoryError('invalid_input', `Its name ${problem}.`);
  const type = types.find((one) => one.owns(path));
  if (!type) throw new MemoryError('invalid_input', 'No toolset in use has room for it.');
  const last = lastDay(keys);
  if (keys.status === 'deprecated' && last === undefined) {
    gathering.note(file, 'is deprecated since an unknown day');
  }
  const isDated = last === undefined || keys.expires !== undefined;
  const content = isDated ? text : withKeys(text, { expires: last }, true);
  return { type, value: type.codec.decode(content, path) };
}

/** The last day on which a concept holds, if it says so. */
function lastDay({ stale_after, status, generated }: JsonObject): string | undefined {
  const stale = isoTime(stale_after);
  // It is an instant: a concept that is stale from midnight on does not hold on that day.
  if (stale !== undefined) return new Date(Date.parse(stale) - 1).toISOString().slice(0, 10);
  const at = isObject(generated) ? isoTime(generated.at) : undefined;
  return status === 'deprecated' && at !== undefined ? at.slice(0, 10) : undefined;
}
