import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { byKey, create, intact, listOwned, newIdentity, writtenBodies } from './crud.ts';
import { batch, line, slug, text } from './graph-fields.ts';
import { dropLinks, objectiveFeatures } from './links.ts';
import { NounTools } from './noun-tools.ts';
import { type Feature, feature, requirement } from './records.ts';

/** A feature as the tools return it: without its links, which other tools return. */
export function featureBody(value: Feature): JsonObject {
  const { id, slug, name, description = null, created_at, updated_at } = value;
  return { id, slug, name, description, created_at, updated_at };
}

const features = new NounTools({
  type: feature,
  naming: z.object({ slug }),
  key: (_, { slug }) => slug,
  body: featureBody,
});

/** Feature tools (seed 000). */
export const featureTools: readonly Tool[] = [
  defineTool({
    name: 'create_features',
    title: 'Create features',
    description: 'Add features to the project. The slug auth/oauth makes a sub-feature of auth.',
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

  features.get('Read a feature. get_feature_context adds its paths and requirements.'),

  features.list(
    'Which features the project has, or those below a parent, sorted by slug.',
    z.object({ parent_slug: slug.optional(), offset: offsetArgument }),
    async (store, { parent_slug }) => {
      const prefix = parent_slug === undefined ? '' : `${parent_slug}/`;
      const { records, damaged } = await store.list(feature);
      return { records: byKey(records.filter(({ key }) => key.startsWith(prefix))), damaged };
    },
  ),

  features.update(
    'Change the name or description of a feature.',
    z.object({ slug, name: line.optional(), description: text.optional() }),
  ),

  features.delete(
    'Delete a feature, its requirements and links. Paths and sub-features stay.',
    async (draft, { slug, paths = [] }) => {
      const requirements = intact(await listOwned(draft, requirement, slug));
      for (const { key } of requirements) await draft.remove(requirement, key);
      const objectives = await dropLinks(draft, objectiveFeatures, slug);
      return [
        { noun: 'requirement', names: requirements.map(({ value }) => `"${value.text}"`) },
        { noun: 'link', names: [...paths.map((path) => `to path "${path}"`), ...objectives] },
      ];
    },
  ),
];
