import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { formatPlace, inlineEvidence, readAnnotations } from '../../core/evidence/annotations.ts';
import { parseAddress, Sections } from '../../core/markdown/section-statements.ts';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import { MemoryError } from '../../core/values/error.ts';
import { besideShape } from '../page/review-answers.ts';
import { defineMemoryOperation } from './operation.ts';
import { readRecord } from './record-answer.ts';

/** Limits of what is read next to one record: places, bytes of a file, lines of code. */
const maxPlaces = 8;
const maxFile = 1_000_000;
const maxLines = 30;

export const besideReview = defineMemoryOperation({
  method: 'get',
  path: '/memory/reviews/beside',
  id: 'get_beside_review',
  summary: 'Returns the code that a proposed record rests on.',
  input: z.object({
    name: z.string().min(1).max(200),
    record: z.string().min(1).max(2000).describe('The address of a record, or of a section of it'),
  }),
  answer: besideShape,
  async run(context, { name, record }, { types }) {
    const { path, section } = parseAddress(record);
    const { text } = await readRecord(context, types, path, reviewBranches + name);
    const part = section === undefined ? undefined : new Sections(path, text).find(section);
    const shown = part ? text.slice(part.start, part.end) : text;
    const given = part
      ? inlineEvidence(shown)
      : [...readAnnotations(path, text).evidence, ...inlineEvidence(text)];
    const places = [...new Set(given.map(formatPlace))].slice(0, maxPlaces);
    const evidence = await Promise.all(places.map((place) => codeAt(context, place)));
    return { evidence };
  },
});

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
