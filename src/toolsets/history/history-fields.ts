import * as z from 'zod';
import { pastedPath } from '../../core/names/pasted-path.ts';

/** The name of one commit. */
export const revision = z.string().min(1).max(256);

/** A record, or a folder of records. */
export const path = z.string().min(1).max(1000);

/** Number of items of a list to leave out. */
export const skip = z.int().min(0).max(1_000_000).default(0);

/** Maximum number of items to return. */
export const limit = z.int().min(1).max(200).default(20);

/** Fields of the same meaning on the command line, where an answer has no budget of tokens. */
export const forPeople = {
  revision: revision.meta({ title: 'revision' }),
  path: path.transform(pastedPath).meta({ title: 'path' }),
  skip: skip.describe('leave out the first ones'),
  limit: z.int().min(1).max(1_000_000).default(30).describe('at most this many'),
};

/** The forms of a revision, in words. */
export const revisionForms = 'a branch, tag, commit, HEAD~3, 2026-01-31 or "2 days ago"';
