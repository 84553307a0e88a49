import { createHash } from 'node:crypto';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import { ownRefs } from '../../git/commit/own-ref.ts';
import type { EncodedObject, Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import type { Refs } from '../../git/refs/refs.ts';

/** Limit of the size of a claim, in bytes: another clone may have written it. */
const maxBytes = 4096;

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z$/;

/** Limit of the length of a field. */
const maxLength = 500;

/** The content of the file to which the ref of a claim points. */
export interface ClaimFile {
  /** The path of the record, relative to the top of the work tree. */
  readonly record: string;
  readonly agent: string;
  readonly session: string;
  readonly person: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly until: string;
}

/** The refs of claims that the remote does not have: there is none, or it could not be reached. */
export const localClaims = `${ownRefs}local-claims/`;
/** The refs of claims that the remote has; here as they were at the last exchange with it. */
export const sharedClaims = `${ownRefs}claims/`;

/** Encodes a claim as a file that people can read with `git cat-file -p`. */
export function encodeClaim(odb: ObjectDatabase, claim: ClaimFile): EncodedObject {
  return odb.encode('blob', Buffer.from(`${JSON.stringify(claim, undefined, 2)}\n`, 'utf8'));
}

/** Reads a claim; undefined for an object that is not one. */
export function readClaim(odb: ObjectDatabase, oid: Oid): ClaimFile | undefined {
  try {
    const object = odb.size(oid) <= maxBytes ? odb.read(oid) : undefined;
    if (object?.type !== 'blob') return undefined;
    return toClaimFile(JSON.parse(object.content.toString('utf8')));
  } catch (error) {
    const isDamaged = error instanceof MemoryError && error.code === 'damaged';
    if (isDamaged || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Checks the fields by hand: a brief of a hook reads claims, and does not load a library for it. */
function toClaimFile(value: unknown): ClaimFile | undefined {
  const data: { readonly [name: string]: unknown } = isObject(value) ? value : {};
  const line = (name: string): string | undefined => {
    const text = data[name];
    if (typeof text !== 'string' || text.length > maxLength) return undefined;
    // Control characters of another clone must not reach a terminal.
    return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  };
  const time = (name: string): string | undefined => {
    const text = line(name);
    return text && isoTime.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
  };
  const [record, agent, session] = [line('record'), line('agent'), line('session')];
  const [person, since, until] = [line('person'), time('since'), time('until')];
  if (record === undefined || agent === undefined || session === undefined) return undefined;
  if (person === undefined || since === undefined || until === undefined) return undefined;
  return { record, agent, session, person, since, until };
}

/**
 * Lists the claims that have not expired, by the paths of their records in the memory.
 *
 * A claim that the remote has comes before one of this machine.
 *
 * @param folder the memory folder, relative to the top of the work tree.
 */
export function liveClaims(
  { refs, odb }: { readonly refs: Refs; readonly odb: ObjectDatabase },
  folder: string,
  now: Date,
): Map<string, ClaimFile> {
  const found = new Map<string, ClaimFile>();
  const start = folder === '' ? '' : `${folder}/`;
  for (const prefix of [localClaims, sharedClaims]) {
    for (const { oid } of refs.list(prefix)) {
      const file = readClaim(odb, oid);
      if (!file || !isLive(file, now) || !file.record.startsWith(start)) continue;
      found.set(file.record.slice(start.length), file);
    }
  }
  return found;
}

/** Whether a claim has not expired. */
export function isLive({ until }: ClaimFile, now: Date): boolean {
  return Date.parse(until) > now.getTime();
}

/** The last part of the ref name of a record's claim; a path may contain what a ref name must not. */
export function claimName(record: string): string {
  return createHash('sha256').update(record).digest('hex').slice(0, 40);
}
