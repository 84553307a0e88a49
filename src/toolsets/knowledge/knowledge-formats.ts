import {
  type ExchangeFormat,
  Gathering,
  isoTime,
  parseJson,
} from '../../core/declarations/exchange-format.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import {
  type Category,
  categories,
  entryRecord,
  type KnowledgeEntry,
  listEntries,
} from './entry.ts';
import { serverMemory } from './server-memory.ts';

/** Names of the creation time: in the seed, in its reference implementation, and in existing data. */
const creationTimes = ['created_at', 'timestamp', 'recorded_at'];

/** The folder `.claude/memory/` of seed 004: a JSON file for each category, in one of four shapes. */
const claudeMemory: ExchangeFormat = {
  name: 'claude-memory',
  title: 'knowledge of a .claude/memory folder, by category',
  places: ['.claude/memory'],
  recognises: (name, entries) =>
    categories.some((category) => entries.includes(`${category}.json`)) ||
    (name === 'memory' && entries.some((entry) => entry.endsWith('.json'))),
  *read(source, now) {
    const gathering = new Gathering();
    for (const file of source.files) {
      const category = categories.find((name) => `${name}.json` === file);
      if (category === undefined) {
        gathering.leave(file, 'is not named after a category');
        continue;
      }
      gathering.attempt(file, () => readCategory(parseJson(source.text(file)), category, file));
      yield;
    }
    return gathering;

    function readCategory(data: unknown, category: Category, file: string): void {
      const entries = Array.isArray(data) ? data : isObject(data) ? data.entries : undefined;
      const { entries: _, updated, ...more } = isObject(data) ? data : {};
      if (Array.isArray(entries) || isObject(entries)) {
        for (const [name, given] of Object.entries(more)) {
          if (name !== 'category' || given !== category) {
            gathering.leave(`${file}, "${name}"`, 'is outside the entries');
          }
        }
      }
      if (Array.isArray(entries)) {
        for (const [i, entry] of entries.entries()) {
          const key = isObject(entry) ? entry.key : undefined;
          const from = `${file}, entry ${i + 1}`;
          if (isObject(entry)) add(category, key, entry, from);
          else gathering.leave(from, 'is not an object');
        }
      } else if (isObject(entries)) {
        for (const [key, entry] of Object.entries(entries)) {
          if (isObject(entry)) add(category, key, entry, `${file}, "${key}"`);
          else add(category, key, { value: entry, created_at: updated }, `${file}, "${key}"`);
        }
      } else if (isObject(data) && category === 'protocol-state') {
        // A plain object: each of its keys is an entry.
        for (const [key, value] of Object.entries(data)) {
          add(category, key, { value, created_at: updated }, `${file}, "${key}"`);
        }
      } else {
        throw new MemoryError('damaged', 'Neither a list nor an object of knowledge entries.');
      }
    }

    function add(
      category: Category,
      key: unknown,
      entry: { readonly [name: string]: unknown },
      from: string,
    ): void {
      const { value, reason, context, metadata, ...others } = entry;
      if (typeof key !== 'string' || value === undefined) {
        gathering.leave(from, 'has no key or no value');
        return;
      }
      const creation = creationTimes.find((name) => isoTime(others[name]) !== undefined);
      const created = creation && isoTime(others[creation]);
      const updated = isoTime(others.updated_at);
      const time = created ?? updated ?? now();
      const used = new Set([creation, updated && 'updated_at']);
      const rest = Object.entries(others).filter(
        ([name, given]) =>
          isGiven(given) &&
          !used.has(name) &&
          !(name === 'key' && given === key) &&
          !(name === 'category' && given === category),
      );
      for (const [name, given] of rest) {
        if ([...creationTimes, 'updated_at'].includes(name) && isoTime(given) === undefined) {
          gathering.note(from, `its ${name} is not a timestamp and is kept as metadata`);
        }
      }
      const own = isObject(metadata) ? metadata : isGiven(metadata) ? { metadata } : {};
      for (const [name] of rest.filter(([name]) => Object.hasOwn(own, name))) {
        gathering.note(from, `its "${name}" is left out: its metadata also has a "${name}"`);
      }
      const kept = { ...Object.fromEntries(rest), ...own };
      const previous = gathering.found.findIndex(
        ({ value: other }) =>
          'key' in other && other.key === key && 'category' in other && other.category === category,
      );
      if (previous >= 0) {
        const [replaced] = gathering.found.splice(previous, 1);
        gathering.note(from, `has the same key as ${replaced?.from ?? ''} and replaces it`);
      }
      gathering.found.push({
        type: entryRecord,
        value: {
          category,
          key,
          value: textOf(value),
          ...(isGiven(reason) && { reason: textOf(reason) }),
          ...(isGiven(context) && { context: textOf(context) }),
          ...((isGiven(metadata) || rest.length > 0) && { metadata: kept }),
          created_at: time,
          updated_at: updated ?? time,
        },
        from,
        undated: created === undefined && updated === undefined,
      });
    }
  },
  async write({ project }) {
    const files = new Map<string, string>();
    const { records } = await listEntries(project, categories);
    for (const category of categories) {
      const own = records.filter(({ value }) => value.category === category);
      if (own.length === 0) continue;
      const entries = Object.fromEntries(own.map(({ value }) => [value.key, stored(value)]));
      const file = `.claude/memory/${category}.json`;
      files.set(file, `${JSON.stringify({ entries }, undefined, 2)}\n`);
    }
    return files;
  },
};

/** Whether a field has a value; null means the same as an absent field. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function stored({ category: _, key: __, ...entry }: KnowledgeEntry) {
  return entry;
}

export const formats: readonly ExchangeFormat[] = [claudeMemory, serverMemory];
