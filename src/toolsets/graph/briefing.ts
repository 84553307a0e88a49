import { byCreation, type Damaged, type Listing } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { byKey, find, listLinked } from './crud.ts';
import { brief, type Passage } from './passage.ts';
import {
  type Feature,
  feature,
  type Objective,
  objective,
  type Path,
  path,
  type Requirement,
  requirement,
  type Task,
  type Ticket,
  ticket,
} from './records.ts';
import { tasksOf } from './tasks.ts';

/** The objective and features of a briefing, and its size limit in characters. */
export interface BriefingRequest {
  readonly objective_slug?: string | undefined;
  /** Features in addition to those of the objective; unknown ones are ignored. */
  readonly feature_slugs?: readonly string[] | undefined;
  readonly budget: number;
}

/**
 * Describes an objective and its features, or some features, as one markdown text.
 *
 * The text is empty when neither is given.
 *
 * @throws MemoryError `not_found` when the objective does not exist.
 */
export async function buildContext(
  reader: Reader,
  { objective_slug, feature_slugs = [], budget }: BriefingRequest,
): Promise<{ context: string; records: readonly string[]; damaged: readonly Damaged[] }> {
  const passages: Passage[] = [];
  const records: string[] = [];
  const damaged: Damaged[] = [];
  const slugs: string[] = [];
  if (objective_slug !== undefined) {
    const found = await find(reader, objective, objective_slug);
    const tasks = await tasksOf(reader, objective_slug);
    const tickets = await listLinked(reader, ticket, found.tickets);
    const steps = tasks.records.map(({ value }) => value);
    passages.push(...objectivePassages(found, steps, valuesByKey(tickets)));
    damaged.push(...tasks.damaged, ...tickets.damaged);
    records.push(...pathsOf(tasks), ...pathsOf(tickets));
    const own = await reader.get(objective, objective_slug);
    if (own) records.unshift(own.path);
    slugs.push(...(found.features ?? []));
  }
  slugs.push(...feature_slugs);
  const features = await aboutFeatures(reader, [...new Set(slugs)]);
  return {
    context: brief([...passages, ...features.passages], budget),
    records: [...records, ...features.records],
    damaged: [...damaged, ...features.damaged],
  };
}

/** Returns a passage for each of the features that exists, in the order given. */
async function aboutFeatures(
  reader: Reader,
  slugs: readonly string[],
): Promise<{ passages: Passage[]; records: string[]; damaged: Damaged[] }> {
  if (slugs.length === 0) return { passages: [], records: [], damaged: [] };
  const features = await listLinked(reader, feature, slugs);
  const linked = features.records.flatMap(({ value }) => value.paths ?? []);
  const paths = await listLinked(reader, path, linked);
  const requirements = await reader.list(requirement);

  const bySlug = new Map(features.records.map(({ key, value }) => [key, value]));
  const demands = byCreation(requirements.records).map(({ value }) => value);
  const passages = slugs.flatMap((slug) => {
    const found = bySlug.get(slug);
    if (!found) return [];
    const own = new Set(found.paths);
    return featurePassages(
      found,
      demands.filter(({ feature }) => feature === slug),
      valuesByKey({ records: paths.records.filter(({ key }) => own.has(key)) }),
    );
  });
  const shown = requirements.records.filter(({ value }) => bySlug.has(value.feature));
  return {
    passages,
    records: [...pathsOf(features), ...shown.map(({ path }) => path), ...pathsOf(paths)],
    damaged: [...features.damaged, ...paths.damaged, ...requirements.damaged],
  };
}

function valuesByKey<T>({ records }: Pick<Listing<T>, 'records'>): T[] {
  return byKey(records).map(({ value }) => value);
}

function pathsOf({ records }: Listing<object>): string[] {
  return records.map(({ path }) => path);
}

const boxes: Record<Task['status'], string> = {
  pending: '[ ]',
  in_progress: '[~]',
  completed: '[x]',
};

/** Returns the passage about an objective. */
function objectivePassages(
  { slug, name, status, description, plan_file_path }: Objective,
  tasks: readonly Task[],
  tickets: readonly Ticket[],
): Passage[] {
  const steps = tasks.map(({ text, status }) => item(`${boxes[status]} ${text}`));
  const keys = tickets.map(({ key, title }) => item(title ? `${key}: ${title}` : key));
  return [
    {
      heading: `# Objective: ${name}\n**Slug:** ${slug}\n**Status:** ${status}`,
      items: [...field('Description', description), ...field('Plan', plan_file_path)],
      source: call('get_objective', { slug }),
    },
    ...section('## Tasks', steps, call('list_tasks', { objective_slug: slug })),
    ...section('## Tickets', keys, call('get_objective_context', { slug })),
  ];
}

/** Returns the passage about a feature. */
function featurePassages(
  { slug, name, description }: Feature,
  requirements: readonly Requirement[],
  paths: readonly Path[],
): Passage[] {
  const demands = requirements.map(({ text, notes = [] }) => item(text, notes));
  const source = { feature_slug: slug };
  return [
    {
      heading: `## Feature: ${name}\n**Slug:** ${slug}`,
      items: field('Description', description),
      source: call('get_feature', { slug }),
    },
    ...section('### Requirements', demands, call('list_requirements', source)),
    ...section('### Paths', paths.map(pathItem), call('list_paths', source)),
  ];
}

function section(heading: string, items: readonly string[], source: string): Passage[] {
  return items.length === 0 ? [] : [{ heading, items, source }];
}

function field(name: string, text: string | undefined): string[] {
  return text ? [`**${name}:** ${text}`] : [];
}

function item(text: string, notes: readonly string[] = []): string {
  return [`- ${indent(text, '  ')}`, ...notes.map((note) => `  - ${indent(note, '    ')}`)].join(
    '\n',
  );
}

function pathItem({ path, type, description, use_when = [] }: Path): string {
  const name = `\`${path}${type === 'directory' ? '/' : ''}\``;
  const text = description ? `${name} - ${description}` : name;
  return item(text, use_when.length === 0 ? [] : [`Use when: ${use_when.join('; ')}`]);
}

/** Indents further lines of a text, so that they stay within the list item. */
function indent(text: string, by: string): string {
  return text.replace(/\r\n?|\n/g, `\n${by}`);
}

function call(tool: string, args: JsonObject): string {
  return `${tool} ${JSON.stringify(args)}`;
}
