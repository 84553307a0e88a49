import * as z from 'zod';
import { noteOtherSearch } from '../../core/declarations/other-search.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { cautionField, namedCautions, reportDamaged } from '../../core/memory/answer-fields.ts';
import { buildContext } from './briefing.ts';
import { bodiesOf, bodyOf, byKey, findRecord, listLinked } from './crud.ts';
import { featureBody } from './features.ts';
import { limits, pathType, slug } from './graph-fields.ts';
import { objectiveBody } from './objectives.ts';
import { findRelevantPaths } from './path-relevance.ts';
import { pathBody } from './paths.ts';
import { feature, objective, path, ticket } from './records.ts';
import { requirementBody, requirementsOf } from './requirements.ts';
import { taskBody, tasksOf } from './tasks.ts';
import { ticketBody } from './tickets.ts';

const slugs = z.array(slug).max(limits.batch);

/** Context and query tools (seed 000). */
export const contextTools: readonly Tool[] = [
  defineTool({
    name: 'get_feature_context',
    title: 'Get the context of a feature',
    description: 'Read a feature with its paths and requirements.',
    effect: 'read',
    input: z.object({ slug }),
    growing: {
      paths: 'call list_paths with this feature_slug and offset {offset}',
      requirements: 'call list_requirements with this feature_slug and offset {offset}',
    },
    async handle({ store }, { slug }) {
      const found = await findRecord(store, feature, slug);
      const paths = await listLinked(store, path, found.value.paths);
      const requirements = await requirementsOf(store, slug);
      return {
        feature: await bodyOf(store, found, featureBody),
        paths: await bodiesOf(store, byKey(paths.records), pathBody),
        requirements: await bodiesOf(store, requirements.records, (value) =>
          requirementBody(value, found.value.id),
        ),
        ...reportDamaged([...paths.damaged, ...requirements.damaged]),
      };
    },
  }),

  defineTool({
    name: 'get_objective_context',
    title: 'Get the context of an objective',
    description: 'Read an objective with its tasks in order, its features and tickets.',
    effect: 'read',
    input: z.object({ slug }),
    growing: {
      tasks: 'call list_tasks with this objective_slug and offset {offset}',
      features: 'call get_feature for each of the objective',
      tickets: 'call list_tickets, which returns all',
    },
    async handle({ store }, { slug }) {
      const found = await findRecord(store, objective, slug);
      const tasks = await tasksOf(store, slug);
      const features = await listLinked(store, feature, found.value.features);
      const tickets = await listLinked(store, ticket, found.value.tickets);
      return {
        objective: await bodyOf(store, found, objectiveBody),
        tasks: await bodiesOf(store, tasks.records, (value) => taskBody(value, found.value.id)),
        features: await bodiesOf(store, byKey(features.records), featureBody),
        tickets: await bodiesOf(store, byKey(tickets.records), ticketBody),
        ...reportDamaged([...tasks.damaged, ...features.damaged, ...tickets.damaged]),
      };
    },
  }),

  defineTool({
    name: 'find_relevant_paths',
    title: 'Find relevant paths',
    description:
      'Which files and directories matter for a piece of work, by their description and use_when. search_memory finds them also.',
    effect: 'read',
    input: z.object({
      query: z.string().regex(/\S/, 'must not be blank').max(limits.line),
      feature_slugs: slugs.optional(),
      type: pathType.optional(),
    }),
    growing: { paths: 'ask with a longer query, or by feature_slugs or type' },
    async handle(context, args) {
      const { paths, matches, damaged } = await findRelevantPaths(context.store, args);
      await noteOtherSearch(context, args.query, matches);
      return {
        paths: paths.map(({ value, caution }) => ({
          ...pathBody(value),
          ...cautionField(caution),
        })),
        ...reportDamaged(damaged),
      };
    },
  }),

  defineTool({
    name: 'build_context',
    title: 'Build context',
    description:
      'Get everything about a feature or objective: its files, requirements and tasks, as one text to start work with. Names what did not fit.',
    effect: 'read',
    input: z.object({
      objective_slug: slug.optional(),
      feature_slugs: slugs.optional(),
      budget: z.int().min(1_000).max(200_000).default(24_000).describe('characters'),
    }),
    async handle(context, args) {
      if (args.objective_slug === undefined && !args.feature_slugs?.length) {
        context.note(
          'Nothing was asked for. Give objective_slug, feature_slugs or both; list_objectives and list_features name them.',
        );
      }
      const built = await buildContext(context.store, args);
      const caution = namedCautions(await context.store.cautions(built.records));
      return {
        context: built.context,
        ...cautionField(caution),
        ...reportDamaged(built.damaged),
      };
    },
  }),
];
