import * as z from 'zod';
import { nextOffset, offsetArgument } from '../../core/answers/offset-argument.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { reportDamaged } from '../../core/memory/answer-fields.ts';
import type { JsonObject } from '../../core/values/json.ts';
import {
  bodiesOf,
  bodyOf,
  byKey,
  create,
  findRecord,
  intact,
  listOwned,
  newIdentity,
  remove,
  update,
  updatedBody,
  writtenBodies,
} from './crud.ts';
import { batch, line, slug, text } from './graph-fields.ts';
import { dropLinks, objectiveFeatures } from './links.ts';
import { type Feature, feature, requirement } from './records.ts';

/** A feature as the tools return it: without its links, which other tools return. */
export function featureBody(value: Feature): JsonObject {
  const { id, slug, name, description = null, created_at, updated_at } = value;
  return { id, slug, name, description, created_at, updated_at };
}

/** Feature tools (seed 000). */
export const featureTools: readonly Tool[] = [
  defineTool({
    name: 'create_features',
    title: 'Create features',
    description: 'Record features of the project. The slug auth/oauth makes a sub-feature of auth.',
    effect: 'write',
    input: z.object({
      features: batch(z.object({ slug, name: line, description: text.optional() })),
    }),
    async handle(context, args) {
      const features = args.features.map((given) => ({ ...given, ...newIdentity(context) }));
      const argument = (index: number) => ['features', index, 'slug'];
      const written = await create(context, feature, features, argument);
      return { features: await writtenBodies(context, feature, written, featureBody) };
    },
  }),

  defineTool({
    name: 'get_feature',
    title: 'Get a feature',
    description: 'Read a feature. get_feature_context adds its paths and requirements.',
    effect: 'read',
    input: z.object({ slug }),
    async handle({ store }, { slug }) {
      const found = await findRecord(store, feature, slug);
      return { feature: await bodyOf(store, found, featureBody) };
    },
  }),

  defineTool({
    name: 'list_features',
    title: 'List features',
    description: 'List features, or those below a parent, sorted by slug.',
    effect: 'read',
    input: z.object({ parent_slug: slug.optional(), offset: offsetArgument }),
    growing: { features: nextOffset },
    async handle({ store }, { parent_slug, offset }) {
      const prefix = parent_slug === undefined ? '' : `${parent_slug}/`;
      const { records, damaged } = await store.list(feature);
      const below = records.filter(({ key }) => key.startsWith(prefix));
      const features = await bodiesOf(store, byKey(below).slice(offset), featureBody);
      return { features, ...reportDamaged(damaged) };
    },
  }),

  defineTool({
    name: 'update_feature',
    title: 'Update a feature',
    description: 'Change the fields given.',
    effect: 'write',
    idempotent: true,
    input: z.object({ slug, name: line.optional(), description: text.optional() }),
    async handle(context, { slug, ...changes }) {
      const updated = await update(context, feature, slug, changes);
      return { feature: await updatedBody(context, feature, updated, featureBody) };
    },
  }),

  defineTool({
    name: 'delete_feature',
    title: 'Delete a feature',
    description: 'Delete a feature, its requirements and links. Paths and sub-features stay.',
    effect: 'destroy',
    idempotent: true,
    input: z.object({ slug }),
    handle: (context, { slug }) =>
      remove(context, feature, slug, async (draft, { paths = [] }) => {
        const requirements = intact(await listOwned(draft, requirement, slug));
        for (const { key } of requirements) await draft.remove(requirement, key);
        const objectives = await dropLinks(draft, objectiveFeatures, slug);
        return [
          { noun: 'requirement', names: requirements.map(({ value }) => `"${value.text}"`) },
          { noun: 'link', names: [...paths.map((path) => `to path "${path}"`), ...objectives] },
        ];
      }),
  }),
];
