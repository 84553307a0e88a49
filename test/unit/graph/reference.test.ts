import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { corpus } from '../../support/corpus.ts';
import { type Answer, Planner } from './planner.ts';

const folder = `${corpus}/_reference-outputs/seed000-amhuppert`;

/** An answer without what differs from run to run; absent text is what a caller leaves out. */
function bare(value: Answer): Answer {
  if (Array.isArray(value)) return value.map(bare);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !/^(id|.*_id|.*_at)$/.test(key))
      .map(([key, inner]) => [key, bare(inner)]),
  );
}

/** A record of the reference program as the arguments that create it. */
function asInput(value: Answer): Answer {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null));
}

describe.skipIf(!corpus)('beside the program that seed 000 was written for', () => {
  test('the tools have its names, in its order', () => {
    const transcript = readFileSync(`${folder}/transcript.txt`, 'utf8');
    const names = /^TOOLS 41 (.*)$/m.exec(transcript)?.[1]?.split(' ');
    expect(graph.tools.map(({ name }) => name)).toEqual(names);
  });

  test('the same project gives the same answers', async () => {
    const dump: Answer = JSON.parse(readFileSync(`${folder}/tool-dump.json`, 'utf8'));
    const { features, paths, requirements } = {
      ...dump.features.data,
      ...dump.paths.data,
      ...dump.requirements.data,
    };
    const { objective, tasks, tickets } = {
      ...dump.objective_context.data,
      ...dump.tickets.data,
    };
    const context: string = dump.build_context.data.context;
    const plan = new Planner();

    await plan.do('create_features', { features: features.map(asInput) });
    const made = await plan.do('create_paths', { paths: paths.map(asInput) });
    const ids = new Map(made.paths.map(({ path, id }: Answer) => [path, id]));
    for (const part of context.split('\n## Feature: ').slice(1)) {
      const feature_slug = /^\*\*Slug:\*\* (.*)$/m.exec(part)?.[1];
      const linked = [...part.matchAll(/^- `(.+?)\/?` - /gm)].map(([, path]) => ids.get(path));
      await plan.do('link_paths_to_feature', { feature_slug, path_ids: linked });
    }
    const owner = features.find(({ id }: Answer) => id === requirements[0].feature_id);
    await plan.do('create_requirements', { feature_slug: owner.slug, requirements });
    await plan.do('create_objective', asInput(objective));
    await plan.do('create_tasks', { objective_slug: objective.slug, tasks });
    await plan.do('create_tickets', { tickets: tickets.map(asInput) });
    await plan.do('link_objective_to_features', {
      objective_slug: objective.slug,
      feature_slugs: dump.objective_context.data.features.map(({ slug }: Answer) => slug),
    });
    await plan.do('link_objective_to_tickets', {
      objective_slug: objective.slug,
      ticket_keys: dump.objective_context.data.tickets.map(({ key }: Answer) => key),
    });

    const calls: [expected: Answer, tool: string, args?: object][] = [
      [dump.features, 'list_features'],
      [dump.paths, 'list_paths'],
      [dump.requirements, 'list_requirements', { feature_slug: owner.slug }],
      [dump.objectives, 'list_objectives'],
      [dump.tasks, 'list_tasks', { objective_slug: objective.slug }],
      [dump.tickets, 'list_tickets'],
      [dump.objective_context, 'get_objective_context', { slug: objective.slug }],
      [dump.build_context, 'build_context', { objective_slug: objective.slug }],
    ];
    for (const [expected, tool, args] of calls) {
      const answer = await plan.do(tool, args);
      expect(bare(answer), tool).toEqual(bare(expected.data));
      expect(JSON.stringify(keysOf(answer)), tool).toBe(JSON.stringify(keysOf(expected.data)));
    }
  });
});

/** The keys of an answer in their order, of the first element for each of its lists. */
function keysOf(value: Answer): Answer {
  if (Array.isArray(value)) return value.slice(0, 1).map(keysOf);
  if (value === null || typeof value !== 'object') return null;
  return Object.entries(value).map(([key, inner]) => [key, keysOf(inner)]);
}
