import { counted } from '../../core/answers/painter.ts';
import {
  type ExchangeFormat,
  Gathering,
  isoTime,
  parseJson,
} from '../../core/declarations/exchange-format.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import { entryRecord, listEntries } from './entry.ts';
import { jsonValues } from './json-values.ts';

/** The category of the entries that entities become. */
const category = 'project-learnings';
/** Marks entries that were imported from a graph, so that the export can turn them into one again. */
const origin = 'server-memory';

interface Entity {
  readonly from: string;
  /** The fields of its line, without the name and the observations. */
  readonly fields: { [name: string]: unknown };
  readonly observations: unknown[];
  readonly relations: { [name: string]: unknown }[];
}

/**
 * The knowledge graph of the reference memory server and similar programs, as JSON lines.
 *
 * A line is an entity with observations, or a relation between two entities; the answer of its tool
 * `read_graph` and a list of both are read as well. An entity becomes an entry
 * with its name as the key. Its observations become the lines of the value. Its other fields and its
 * outgoing relations go into the metadata, as do observations that are not single lines.
 */
export const serverMemory: ExchangeFormat = {
  name: 'server-memory',
  title: 'knowledge graph in JSON lines: entities, observations, relations',
  places: ['memory.jsonl', '.claude/memory.jsonl', 'memory.json'],
  recognises: (name, entries) =>
    entries.length === 1 && entries[0] === name && /(?:\.jsonl|^memory\.json)$/.test(name),
  recognisesLine(line) {
    const data = read(line);
    return membersOf(data).some(isMember);
  },
  *read(source, now) {
    const gathering = new Gathering();
    const entities: Graph = new Map();
    for (const file of source.files) {
      // The entities of a file count only if it is read to its end.
      const added: Graph = new Map();
      try {
        yield* readFile(file, added);
        for (const [name, one] of added) merge(name, one);
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        gathering.leave(file, error.text);
      }
    }
    for (const [key, one] of entities) {
      gathering.found.push(toFinding(key, one));
      // Very many entities should not be in memory twice.
      entities.delete(key);
      yield;
    }
    return gathering;

    function* readFile(file: string, added: Graph): Generator<void> {
      const unknown = new Map<string, string[]>();
      for (const read of jsonValues(source, file, isMember)) {
        yield;
        if (!read) continue;
        const wrong = 'problem' in read ? [read.problem] : [];
        if ('value' in read) {
          for (const member of membersOf(read.value)) {
            yield;
            if (!readMember(member, read.from, added)) wrong.push(neither);
          }
        }
        for (const problem of wrong) {
          const places = unknown.get(problem);
          if (places) places.push(read.from);
          else unknown.set(problem, [read.from]);
        }
      }
      for (const [problem, [first = file, ...more]] of unknown) {
        const others = more.length === 0 ? '' : `; ${counted(more.length, 'more such value')}`;
        gathering.leave(first, problem + others);
      }
    }

    function readMember(data: unknown, from: string, added: Graph): boolean {
      if (!isObject(data)) return false;
      if (isEntity(data)) {
        const { name, observations, ...fields } = data;
        if (entities.has(name) || added.has(name))
          gathering.note(from, `is added to the entity "${name}" that was read before`);
        const known = entity(added, name, from);
        Object.assign(known.fields, fields);
        known.observations.push(...observations);
        return true;
      }
      if (!isRelation(data)) return false;
      const { from: begin, ...relation } = data;
      entity(added, begin, from).relations.push(relation);
      return true;
    }

    function merge(name: string, one: Entity): void {
      const known = entities.get(name);
      if (!known) {
        entities.set(name, one);
        return;
      }
      Object.assign(known.fields, one.fields);
      known.observations.push(...one.observations);
      known.relations.push(...one.relations);
    }

    function toFinding(key: string, { from, fields, observations, relations }: Entity) {
      const lines = observations.filter((one) => typeof one === 'string');
      const plain =
        lines.length === observations.length && lines.every((one) => /^[^\n]+$/.test(one));
      const created = isoTime(fields.createdAt) ?? isoTime(fields._savedAt);
      const time = created ?? now();
      return {
        type: entryRecord,
        value: {
          category,
          key,
          value: plain ? lines.join('\n') : observations.map(textOf).join('\n'),
          metadata: {
            origin,
            ...fields,
            ...(!plain && { observations }),
            ...(relations.length > 0 && { relations }),
          },
          created_at: time,
          updated_at: isoTime(fields.updatedAt) ?? time,
        },
        from,
        undated: created === undefined,
      };
    }
  },
  async write({ project }) {
    const entities: string[] = [];
    const relations: string[] = [];
    for (const { value } of (await listEntries(project, [category])).records) {
      const { metadata } = value;
      if (!isObject(metadata) || metadata.origin !== origin) continue;
      const { origin: _, observations, relations: links, ...fields } = metadata;
      const lines = value.value === '' ? [] : value.value.split('\n');
      const own = { name: value.key, ...fields, observations: observations ?? lines };
      // An entity that was only named by relations has no line of its own.
      if (Object.keys(fields).length > 0 || own.observations !== lines || lines.length > 0) {
        entities.push(JSON.stringify({ type: 'entity', ...own }));
      }
      for (const link of Array.isArray(links) ? links : []) {
        if (isObject(link)) {
          relations.push(JSON.stringify({ type: 'relation', from: value.key, ...link }));
        }
      }
    }
    const all = [...entities, ...relations];
    return new Map(all.length === 0 ? [] : [['memory.jsonl', `${all.join('\n')}\n`]]);
  },
};

type Graph = Map<string, Entity>;

/** The entity with a name, which is new unless an earlier line of the file names it. */
function entity(graph: Graph, name: string, from: string): Entity {
  const known = graph.get(name) ?? { from, fields: {}, observations: [], relations: [] };
  graph.set(name, known);
  return known;
}

type JsonLine = { readonly [name: string]: unknown };

const neither = 'is neither an entity nor a relation';

/** Returns the parts of a list, or of the graph that the tool `read_graph` answers; otherwise the value. */
function membersOf(data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data;
  if (!isObject(data) || isEntity(data) || isRelation(data)) return [data];
  const lists = [data.entities, data.relations].filter((list) => Array.isArray(list));
  return lists.length > 0 ? lists.flat() : [data];
}

function isMember(data: unknown): boolean {
  return isObject(data) && (isEntity(data) || isRelation(data));
}

function isEntity(
  data: JsonLine,
): data is JsonLine & { readonly name: string; readonly observations: unknown[] } {
  const { name, observations } = data;
  return typeof name === 'string' && name !== '' && Array.isArray(observations);
}

function isRelation(
  data: JsonLine,
): data is JsonLine & { readonly from: string; readonly to: string } {
  const { from, to } = data;
  return typeof from === 'string' && from !== '' && typeof to === 'string';
}

function read(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/** Returns an observation as one line; some programs store it as an object with a text and a time. */
function textOf(observation: unknown): string {
  const value: unknown = isObject(observation) ? (observation.text ?? observation) : observation;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (text ?? '').replace(/\s*\n\s*/g, ' ');
}
