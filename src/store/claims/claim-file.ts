import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MemoryError } from '../../core/error.ts';
import { type EncodedObject, encodeObject, type Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';

/** Limit of the size of a claim, in bytes: another clone may have written it. */
const maxBytes = 4096;

const line = z
  .string()
  .max(500)
  // Control characters of another clone must not reach a terminal.
  .transform((text) => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim());

const schema = z.object({
  /** The path of the record, relative to the top of the work tree. */
  record: line,
  agent: line,
  session: line,
  person: line,
  since: z.iso.datetime(),
  until: z.iso.datetime(),
});

/** The content of the file to which the ref of a claim points. */
export type ClaimFile = z.output<typeof schema>;

/** Encodes a claim as a file that people can read with `git cat-file -p`. */
export function encodeClaim(claim: ClaimFile): EncodedObject {
  return encodeObject('blob', Buffer.from(`${JSON.stringify(claim, undefined, 2)}\n`, 'utf8'));
}

/** Reads a claim; undefined for an object that is not one. */
export function readClaim(odb: ObjectDatabase, oid: Oid): ClaimFile | undefined {
  try {
    const object = odb.size(oid) <= maxBytes ? odb.read(oid) : undefined;
    if (object?.type !== 'blob') return undefined;
    return schema.safeParse(JSON.parse(object.content.toString('utf8'))).data;
  } catch (error) {
    const isDamaged = error instanceof MemoryError && error.code === 'damaged';
    if (isDamaged || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The last part of the ref name of a record's claim; a path may contain what a ref name must not. */
export function claimName(record: string): string {
  return createHash('sha256').update(record).digest('hex').slice(0, 40);
}
