import { z } from 'zod';
import type { Reader } from '../../core/store.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { brief, featurePassages, objectivePassages, type Passage } from './briefing.ts';
import { find, listLinked } from './crud.ts';
import { featureBody } from './features.ts';
import { limits, line, pathType, slug } from './fields.ts';
import { objectiveBody } from './objectives.ts';
import { pathBody } from './paths.ts';
import { feature, objective, path, ticket } from './records.ts';
import { findRelevantPaths } from './relevance.ts';
import { requirementBody, requirementsOf } from './requirements.ts';
import { taskBody, tasksOf } from './tasks.ts';
import { ticketBody } from './tickets.ts';

const slugs = z.array(slug).max(limits.batch);

/** Characters of a briefing, unless the caller says otherwise. */
const briefingBudget = 24_000;

/** Seed 000, Context & Query. */
export const contextTools: readonly Tool[] = [
  defineTool({
    name: 'get_feature_context',
    title: 'Get a feature with everything about it',
    description: 'A feature with its paths, when to look at them, and its requirements.',
    effect: 'read',
    input: z.object({ slug }),
    async handle({ store }, { slug }) {
      const found = await find(store, feature, slug);
      const paths = await listLinked(store, path, found.paths);
      const requirements = await requirementsOf(store, slug);
      return {
        feature: featureBody(found),
        paths: paths.map(pathBody),
        requirements: requirements.map((value) => requirementBody(value, found.id)),
      };
    },
  }),

  defineTool({
    name: 'get_objective_context',
    title: 'Get an objective with everything about it',
    description: 'An objective with its tasks in order and the features and tickets linked to it.',
    effect: 'read',
    input: z.object({ slug }),
    async handle({ store }, { slug }) {
      const { found, tasks, features, tickets } = await objectiveContext(store, slug);
      return {
        objective: objectiveBody(found),
        tasks: tasks.map((value) => taskBody(value, found.id)),
        features: features.map(featureBody),
        tickets: tickets.map(ticketBody),
      };
    },
  }),

  defineTool({
    name: 'find_relevant_paths',
    title: 'Find relevant paths',
    description:
      'Which files and directories to look at for some work: searches what they are described as and good for.',
    effect: 'read',
    input: z.object({
      query: line,
      feature_slugs: slugs.optional(),
      type: pathType.optional(),
    }),
    async handle({ store }, args) {
      return { paths: (await findRelevantPaths(store, args)).map(pathBody) };
    },
  }),

  defineTool({
    name: 'build_context',
    title: 'Build context',
    description:
      'Everything about an objective and its features, or about some features, as one markdown text to begin work with. It says what it left out for want of room.',
    effect: 'read',
    input: z.object({
      objective_slug: slug.optional(),
      feature_slugs: slugs.optional(),
      budget: z.int().min(1_000).max(200_000).default(briefingBudget).describe('characters'),
    }),
    async handle({ store }, { objective_slug, feature_slugs = [], budget }) {
      const passages: Passage[] = [];
      const wanted = new Set<string>();
      if (objective_slug !== undefined) {
        const { found, tasks, features, tickets } = await objectiveContext(store, objective_slug);
        passages.push(...objectivePassages(found, tasks, tickets));
        for (const { slug } of features) wanted.add(slug);
      }
      for (const slug of feature_slugs) wanted.add(slug);
      return { context: brief([...passages, ...(await briefFeatures(store, wanted))], budget) };
    },
  }),
];

async function objectiveContext(reader: Reader, slug: string) {
  const found = await find(reader, objective, slug);
  return {
    found,
    tasks: await tasksOf(reader, slug),
    features: await listLinked(reader, feature, found.features),
    tickets: await listLinked(reader, ticket, found.tickets),
  };
}

/** The passages of those features that exist, in the order asked for. */
async function briefFeatures(reader: Reader, slugs: ReadonlySet<string>): Promise<Passage[]> {
  const features = new Map(
    (await listLinked(reader, feature, [...slugs])).map((value) => [value.slug, value]),
  );
  const linked = [...features.values()].flatMap(({ paths = [] }) => paths);
  const paths = await listLinked(reader, path, linked);
  const passages: Passage[] = [];
  for (const slug of slugs) {
    const value = features.get(slug);
    if (!value) continue;
    const own = new Set(value.paths);
    passages.push(
      ...featurePassages(
        value,
        await requirementsOf(reader, slug),
        paths.filter(({ path }) => own.has(path)),
      ),
    );
  }
  return passages;
}
