import type { JsonObject } from '../../core/json.ts';
import type { Feature, Objective, Path, Requirement, Task, Ticket } from './records.ts';

/** A passage of the briefing: a heading that stays, and items that may be left out from the end. */
export interface Passage {
  readonly heading: string;
  readonly items: readonly string[];
  /** The call that returns what is left out. */
  readonly source: string;
}

/** How much of a briefing's budget the list of what it left out may take, in characters. */
const closing = 400;

const boxes: Record<Task['status'], string> = {
  pending: '[ ]',
  in_progress: '[~]',
  completed: '[x]',
};

/** What a briefing says of an objective. */
export function objectivePassages(
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

/** What a briefing says of a feature. */
export function featurePassages(
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

/**
 * Passages as markdown within a budget.
 *
 * When not everything fits, headings come first, in order; what room is left is shared out among
 * the items, so that one long passage does not push out the others. Each passage says how many
 * items it left out and which call returns them, and the end says which passages are missing.
 *
 * @param budget in UTF-16 code units, at least 1,000.
 */
export function brief(passages: readonly Passage[], budget: number): string {
  const whole = join(passages.map((passage) => render(passage, passage.items.length)));
  if (whole.length <= budget) return whole;

  let room = budget - closing;
  const kept: Passage[] = [];
  const missing: Passage[] = [];
  for (const passage of passages) {
    const least = sizeOf(render(passage, 0));
    if (least > room) missing.push(passage);
    else {
      kept.push(passage);
      room -= least;
    }
  }
  const shown = shareOut(kept, room);
  return join([
    ...kept.map((passage) => render(passage, shown.get(passage) ?? 0)),
    ending(missing),
  ]);
}

/** How many items of each passage fit: the short ones first, so that none takes more than its share. */
function shareOut(passages: readonly Passage[], total: number): Map<Passage, number> {
  let room = total;
  const shown = new Map<Passage, number>();
  const bySize = passages.toSorted((a, b) => sizeOf(...a.items) - sizeOf(...b.items));
  for (const [index, passage] of bySize.entries()) {
    let share = Math.floor(room / (bySize.length - index));
    let count = 0;
    for (const text of passage.items) {
      if (sizeOf(text) > share) break;
      share -= sizeOf(text);
      room -= sizeOf(text);
      count += 1;
    }
    shown.set(passage, count);
  }
  return shown;
}

function render({ heading, items, source }: Passage, shown: number): string {
  const left = items.length - shown;
  const more = left > 0 ? [`- … ${left} more: \`${source}\``] : [];
  return [heading, ...items.slice(0, shown), ...more].join('\n');
}

/** Which passages are missing altogether, as far as there is room to say it. */
function ending(missing: readonly Passage[]): string {
  if (missing.length === 0) return '';
  let text = 'Left out:';
  for (const [index, { source }] of missing.entries()) {
    const longer = `${text}\n- \`${source}\``;
    const others = `\n- … ${missing.length - index} more`;
    if (sizeOf(longer, others) > closing) return text + others;
    text = longer;
  }
  return text;
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

/** Keeps further lines of a text within its list item. */
function indent(text: string, by: string): string {
  return text.replace(/\r\n?|\n/g, `\n${by}`);
}

function call(tool: string, args: JsonObject): string {
  return `${tool} ${JSON.stringify(args)}`;
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

/** What texts take with the line ends that follow each. */
function sizeOf(...texts: readonly string[]): number {
  return texts.reduce((size, text) => size + text.length + 2, 0);
}
