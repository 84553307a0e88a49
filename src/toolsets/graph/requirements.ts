import * as z from 'zod';
import { nextOffset, offsetArgument } from '../../core/answers/offset-argument.ts';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { evidenceArgument, type GivenEvidence } from '../../core/evidence/annotations.ts';
import { reportDamaged } from '../../core/memory/answer-fields.ts';
import { byCreation, type Listing, type Located, type Reader } from '../../core/memory/store.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import {
  add,
  bodiesOf,
  bodyOf,
  find,
  findRecord,
  idOf,
  listOwned,
  newIdentity,
  remove,
  update,
  updatedBody,
  writtenBodies,
} from './crud.ts';
import { batch, id, slug, statement, texts } from './graph-fields.ts';
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

/** Requirement tools (seed 000). */
export const requirementTools: readonly Tool[] = [
  defineTool({
    name: 'create_requirements',
    title: 'Create requirements',
    description: 'Record what a feature must do.',
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

  defineTool({
    name: 'get_requirement',
    title: 'Get a requirement',
    description: 'Read a requirement.',
    effect: 'read',
    input: z.object({ id }),
    async handle({ store }, { id }) {
      const found = await findRecord(store, requirement, id);
      const owner = await idOf(store, feature, found.value.feature);
      return { requirement: await bodyOf(store, found, (value) => requirementBody(value, owner)) };
    },
  }),

  defineTool({
    name: 'list_requirements',
    title: 'List requirements',
    description: 'List the requirements of a feature, oldest first.',
    effect: 'read',
    input: z.object({ feature_slug: slug, offset: offsetArgument }),
    growing: { requirements: nextOffset },
    async handle({ store }, { feature_slug, offset }) {
      const { id } = await find(store, feature, feature_slug);
      const { records, damaged } = await requirementsOf(store, feature_slug);
      return {
        requirements: await bodiesOf(store, records.slice(offset), (value) =>
          requirementBody(value, id),
        ),
        ...reportDamaged(damaged),
      };
    },
  }),

  defineTool({
    name: 'update_requirement',
    title: 'Update a requirement',
    description: 'Change the fields given.',
    effect: 'write',
    idempotent: true,
    input: z.object({ id, text: statement.optional(), notes: texts.optional() }),
    async handle(context, { id, ...changes }) {
      const updated = await update(context, requirement, id, changes);
      const feature_id = await idOf(context.store, feature, updated.record.value.feature);
      const body = (value: Requirement) => requirementBody(value, feature_id);
      return { requirement: await updatedBody(context, requirement, updated, body) };
    },
  }),

  defineTool({
    name: 'delete_requirement',
    title: 'Delete a requirement',
    description: 'Delete a requirement.',
    effect: 'destroy',
    idempotent: true,
    input: z.object({ id }),
    handle: (context, { id }) => remove(context, requirement, id),
  }),
];
