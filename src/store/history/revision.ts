import { MemoryError } from '../../core/values/error.ts';
import { type Oid, parseCommit, taggedBy } from '../../git/objects/object.ts';
import { isOid } from '../../git/objects/object-format.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import type { Refs } from '../../git/refs/refs.ts';

/** The parts of a repository that resolve revisions. */
export interface Names {
  readonly refs: Refs;
  readonly odb: ObjectDatabase;
  now(): Date;
  /** The last commit on the first-parent line of a branch that is not later than a time in seconds. */
  before(head: Oid, time: number): Promise<Oid>;
}

export const maxLength = 256;
const maxCandidates = 20;
const maxTags = 10;

/** The prefixes that are tried for a short name, in git's order (gitrevisions). */
const prefixes = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'];

/**
 * Resolves a revision to a commit.
 *
 * @throws MemoryError `not_found` for an unknown one; `invalid_input` for an ambiguous id and for a
 *   range.
 */
export async function resolveRevision(revision: string, names: Names): Promise<Oid> {
  const text = revision.trim();
  if (text === '' || text.length > maxLength || /[\0-\x1f\x7f\\]|\.\./.test(text)) {
    throw new MemoryError('invalid_input', `${quote(text)} does not name one commit.`, { hint });
  }
  const [, base = '', steps = ''] = /^(.*?)((?:~\d*|\^\d*|\^\{(?:commit)?\})*)$/.exec(text) ?? [];
  let oid = await resolveBase(base, names);
  for (const [step, sign, digits] of steps.matchAll(/([~^])(\d*)(?:\{\w*\})?/g)) {
    const count = step.endsWith('}') ? 0 : digits === '' ? 1 : Number(digits);
    const parents = sign === '^' ? [count] : new Array<number>(Math.min(count, 1e7)).fill(1);
    for (const parent of parents) {
      const next = parent === 0 ? oid : parentsOf(names.odb, oid)[parent - 1];
      if (next === undefined) throw unknown(revision, `${short(oid)} has no such parent`);
      oid = next;
    }
  }
  if (!names.odb.has(oid)) throw unknown(revision, `${short(oid)} is not in this clone`);
  return oid;
}

async function resolveBase(base: string, names: Names): Promise<Oid> {
  const [, branch, when] = /^(.*)@\{(.*)\}$/s.exec(base) ?? [];
  if (when !== undefined) {
    const time = timeOf(when, names.now());
    if (time === undefined) {
      throw new MemoryError('invalid_input', `${quote(when)} is not a date or time.`, { hint });
    }
    return names.before(await resolveBase(branch || 'HEAD', names), time);
  }
  if (base === 'HEAD' || base === '@') return head(names);
  const isWhole = isOid(base) && base.length === names.odb.format.digits;
  const oid = isWhole ? base : refOf(base, names.refs);
  if (oid !== undefined) return peel(oid, base, names.odb);
  const time = timeOf(base, names.now());
  if (time !== undefined) return names.before(head(names), time);
  return idBeginningWith(base, names.odb);
}

function head({ refs }: Names): Oid {
  const { oid } = refs.head();
  if (oid === undefined) throw unknown('HEAD', 'there is no commit on this branch yet');
  return oid;
}

function refOf(name: string, refs: Refs): Oid | undefined {
  // A name that git refuses could lead out of the refs folder.
  if (/(?:^|\/)(?:\.|$)|\.lock(?:\/|$)|[ ~^:?*[]|^\/|\/\/|\.$|@\{/.test(name)) return undefined;
  const full = name.startsWith('refs/') ? [name] : prefixes.map((prefix) => prefix + name);
  const known = name === 'ORIG_HEAD' || name === 'MERGE_HEAD' ? [name, ...full] : full;
  for (const ref of [...known, `refs/remotes/${name}/HEAD`]) {
    const oid = refs.find(ref);
    if (oid !== undefined) return oid;
  }
  return undefined;
}

/** The commit that an id names, also through annotated tags. */
function peel(oid: Oid, name: string, odb: ObjectDatabase): Oid {
  let at = oid;
  for (let depth = 0; depth < maxTags; depth++) {
    if (!odb.has(at)) throw unknown(name, `${short(at)} is not in this clone`);
    const { type, content } = odb.read(at);
    if (type === 'commit') return at;
    if (type !== 'tag') throw unknown(name, `it names a ${type}`);
    at = taggedBy(content);
  }
  throw unknown(name, `it is a chain of more than ${maxTags} tags`);
}

function idBeginningWith(text: string, odb: ObjectDatabase): Oid {
  const prefix = text.toLowerCase();
  if (!/^[0-9a-f]{4,63}$/.test(prefix)) throw unknown(text);
  const found = odb.startingWith(prefix, maxCandidates).filter((oid) => {
    const { type } = odb.read(oid);
    return type === 'commit' || type === 'tag';
  });
  const [first, ...others] = new Set(found.map((oid) => peel(oid, text, odb)));
  if (first === undefined) throw unknown(text);
  if (others.length === 0) return first;
  const candidates = [first, ...others].sort();
  throw new MemoryError('invalid_input', `${quote(text)} is a prefix of several commit ids.`, {
    hint: `Give more digits: ${candidates.map((oid) => oid.slice(0, prefix.length + 6)).join(', ')}.`,
    data: { candidates },
  });
}

function parentsOf(odb: ObjectDatabase, oid: Oid): readonly Oid[] {
  return parseCommit(odb.content(oid, 'commit')).parents;
}

const units = new Map([
  ['second', 1],
  ['minute', 60],
  ['hour', 3600],
  ['day', 86_400],
  ['week', 604_800],
  ['month', 30 * 86_400],
  ['year', 365 * 86_400],
]);

/**
 * Parses a time: `2026-01-31` (the start of that day), `2026-01-31T10:00:00Z`, `2 days ago`, `yesterday`.
 *
 * Without a zone it is UTC.
 *
 * @returns Unix time in seconds; undefined for any other text.
 */
function timeOf(text: string, now: Date): number | undefined {
  const seconds = Math.floor(now.getTime() / 1000);
  if (text === 'yesterday') return seconds - 86_400;
  const [, count, unit = ''] = /^(\d{1,5})[ .]([a-z]+?)s?[ .]ago$/.exec(text) ?? [];
  const length = units.get(unit);
  if (count !== undefined && length) return seconds - Number(count) * length;
  const [, day, clock = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[+-]\d\d:?\d\d)?$/.exec(text) ??
    [];
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const time = Date.parse(`${day}T${clock}${zone.replace(/^(...)(\d\d)$/, '$1:$2')}`);
  // `Date` accepts February 31 as a day in March.
  const real = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day ?? '-');
  return real && !Number.isNaN(time) ? Math.floor(time / 1000) : undefined;
}

const hint =
  'Name one: HEAD~3, a branch, a tag, at least the first four digits of an id, 2026-01-31, 2026-01-31T10:00:00Z or "2 days ago".';

function unknown(revision: string, reason?: string): MemoryError {
  const because = reason === undefined ? '.' : `: ${reason}.`;
  return new MemoryError('not_found', `There is no revision ${quote(revision)}${because}`, {
    hint,
    data: { revision },
  });
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function short(oid: Oid): string {
  return oid.slice(0, 12);
}
