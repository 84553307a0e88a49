import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { evidenceArgument, type GivenEvidence } from '../../core/evidence/annotations.ts';
import { byCreation, type Listing, type Located } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { add, find, idOf, listOwned, newIdentity, writtenBodies } from './crud.ts';
import { batch, id, slug, statement, texts } from './graph-fields.ts';
import { NounTools } from './noun-tools.ts';
import { saying } from './provenance.ts';
import { feature, type Requirement, requirement } from './records.ts';

/** A requirement as the tools return it. */
export function requirementBody(value: Requirement, feature_id: string | null): JsonObject {
  const { id, text, notes = [], created_at, updated_at } = value;
  return { id, feature_id, text, notes, created_at, updated_at };
}

/** Lists the requirements of a feature, oldest first. */
export async function requirementsOf(reader: Reader, slug: string): Promise<Listing<Requirement>> {
  const { records, damaged } = await listOwned(reader, requirement, slug);
  return { records: byCreation(records), damaged };
}

/** Reads the evidence of one requirement of a batch; an error names the requirement. */
async function citeFor(context: Context, index: number, places: readonly string[]) {
  try {
    return await context.project.cite(places);
  } catch (error) {
    const [issue] = error instanceof MemoryError ? error.issues : [];
    throw issue ? invalid(['requirements', index, ...issue.path], issue.message) : error;
  }
}

const requirements = new NounTools({
  type: requirement,
  naming: z.object({ id }),
  key: (_, { id }) => id,
  owner: (reader, { feature: slug }) => idOf(reader, feature, slug),
  body: requirementBody,
});

/** Requirement tools (seed 000). */
export const requirementTools: readonly Tool[] = [
  defineTool({
    name: 'create_requirements',
    title: 'Create requirements',
    description: 'Write down the requirements of a feature: what it must do.',
    effect: 'write',
    input: z.object({
      feature_slug: slug,
      requirements: batch(
        z.object({ text: statement, notes: texts.optional(), evidence: evidenceArgument }),
      ),
    }),
    async handle(context, { feature_slug, ...args }) {
      const requirements = args.requirements.map(({ evidence: _, ...given }) => ({
        ...given,
        feature: feature_slug,
        ...newIdentity(context),
      }));
      const evidence: (readonly GivenEvidence[] | undefined)[] = [];
      for (const [index, { evidence: places }] of args.requirements.entries()) {
        evidence.push(places && (await citeFor(context, index, places)));
      }
      const names = requirements.map(({ text }) => text);
      const why = saying('create', 'requirement', names, ` of feature "${feature_slug}"`);
      const { feature_id, written } = await context.store.change(why, async (draft) => {
        const { id } = await find(draft, feature, feature_slug);
        const written: Located<Requirement>[] = [];
        for (const [index, value] of requirements.entries()) {
          written.push(
            await add(draft, requirement, value, ['requirements', index], evidence[index]),
          );
        }
        return { feature_id: id, written };
      });
      const body = (value: Requirement) => requirementBody(value, feature_id);
      return { requirements: await writtenBodies(context, requirement, written, body) };
    },
  }),

  requirements.get('Read a requirement.'),

  requirements.list(
    'List the requirements of a feature, oldest first.',
    z.object({ feature_slug: slug, offset: offsetArgument }),
    async (store, { feature_slug }) => {
      const { id } = await find(store, feature, feature_slug);
      return { ...(await requirementsOf(store, feature_slug)), owner: id };
    },
  ),

  requirements.update(
    'Change the text or notes of a requirement.',
    z.object({ id, text: statement.optional(), notes: texts.optional() }),
  ),

  requirements.delete('Delete a requirement.'),
];
