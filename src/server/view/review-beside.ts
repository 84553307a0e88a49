import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { formatPlace, inlineEvidence, readAnnotations } from '../../core/evidence/annotations.ts';
import { findReferences, formatReference } from '../../core/evidence/reference.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import { formatAddress, parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import { besideShape } from '../page/review-answers.ts';
import { commitId } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';
import { partAt } from './record-part.ts';

/** Limits of what is read next to one record: places, bytes of a file, lines of code. */
const maxPlaces = 8;
const maxFile = 1_000_000;
const maxLines = 30;

export const besideReview = defineMemoryOperation({
  method: 'get',
  path: '/memory/reviews/beside',
  id: 'get_beside_review',
  summary:
    'Returns the code that a proposed record rests on, the records that say nearly the same, and, for a section, its text before and after.',
  input: z.object({
    name: z.string().min(1).max(200),
    record: z.string().min(1).max(2000).describe('The address of a record, or of a section of it'),
    base: commitId.optional().describe('The base of the review, with the text before'),
  }),
  answer: besideShape,
  async run(context, { name, record, base }) {
    const { path, section } = parseAddress(record);
    const { text: after } = await partAt(context, record, reviewBranches + name);
    const known = section !== undefined && base !== undefined;
    const before = known ? (await partAt(context, record, base)).text : undefined;
    const annotated = section === undefined && after !== undefined;
    const given = [
      ...(annotated ? readAnnotations(path, after).evidence : []),
      ...(after === undefined ? [] : inlineEvidence(after)),
    ];
    const named = findReferences(after ?? '').filter(({ lines }) => lines);
    const declared = new Set(given.map(formatPlace));
    const places = [...new Set([...declared, ...named.map(formatReference)])].slice(0, maxPlaces);
    const evidence = await Promise.all(places.map((place) => codeAt(context, place)));
    return {
      // A word can look like a place; only one that has code is shown.
      evidence: evidence.filter(({ place, code }) => code !== undefined || declared.has(place)),
      similar: after === undefined ? [] : await similarTo(context, reviewBranches + name, record),
      ...(before !== undefined && { before }),
      ...(known && after !== undefined && { after }),
    };
  },
});

/** The records and entries that say nearly the same as a proposed one. */
async function similarTo({ history, store }: Context, revision: string, record: string) {
  const { path, section } = parseAddress(record);
  const { type, value, text } = await (await history.at(revision)).read(path);
  if (!value) return [];
  // The address has the shortest name of the section, the comparison needs its place in the text.
  const place = section === undefined ? undefined : new Sections(path, text).at(section).path;
  const found = await store.similar(type, { path, value }, place);
  return found.map(({ path, section, title, answer }) => ({
    record: formatAddress({ path, section }),
    path,
    title,
    answer,
  }));
}

/** The code of a place as the work tree has it; without code for a place that is gone, or no file. */
async function codeAt({ project }: Context, place: string) {
  try {
    const [found] = await project.cite([place]);
    if (!found?.lines) return { place };
    const text = await project.readFile(found.path, maxFile);
    if (text === undefined) return { place };
    const { first, last } = found.lines;
    const lines = text.split('\n').slice(first - 1, Math.min(last, first + maxLines - 1));
    return { place, code: lines.join('\n'), line: first };
  } catch (error) {
    if (error instanceof MemoryError) return { place };
    throw error;
  }
}
