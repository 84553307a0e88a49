/**
 * A simple model of seed 000: the tables of its SQL schema as arrays, without a store or files.
 *
 * The answers of random sequences of calls are compared with it.
 */

// biome-ignore lint/suspicious/noExplicitAny: rows and arguments have the types of the seed's tables
type Row = any;

export type Expected = { readonly data: Row } | { readonly error: string };

const tables = [
  'features',
  'paths',
  'requirements',
  'objectives',
  'tasks',
  'tickets',
  'feature_paths',
  'objective_features',
  'objective_tickets',
] as const;
export type Table = (typeof tables)[number];

class Refusal extends Error {}

export class GraphModel {
  rows: { [table in Table]: Row[] };

  constructor(rows?: { [table in Table]: Row[] }) {
    this.rows = rows ?? emptyTables();
  }

  clone(): GraphModel {
    return new GraphModel(structuredClone(this.rows));
  }

  /**
   * Returns the expected answer of a call.
   *
   * @param answer the `data` of the real answer, from which ids and times of new and changed records
   *   are taken.
   */
  call(tool: string, args: Row, answer: Row): Expected {
    const before = structuredClone(this.rows);
    try {
      return { data: this.#run(tool, args, answer ?? {}) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.rows = before;
      return { error: error.message };
    }
  }

  #run(tool: string, args: Row, answer: Row): Row {
    const { rows } = this;
    switch (tool) {
      case 'create_features':
        return this.#create('features', 'slug', args.features, answer, (given) => ({
          slug: given.slug,
          name: given.name,
          description: given.description ?? null,
        }));
      case 'get_feature':
        return { feature: this.#one('features', 'slug', args.slug) };
      case 'list_features':
        return {
          features: sorted(
            rows.features.filter(
              ({ slug }) => !args.parent_slug || slug.startsWith(`${args.parent_slug}/`),
            ),
            'slug',
          ),
        };
      case 'update_feature':
        return this.#update('feature', this.#one('features', 'slug', args.slug), args, answer, [
          'name',
          'description',
        ]);
      case 'delete_feature': {
        const { id } = this.#one('features', 'slug', args.slug);
        this.#drop('features', 'id', id);
        this.#drop('requirements', 'feature_id', id);
        this.#drop('feature_paths', 'from', id);
        this.#drop('objective_features', 'to', id);
        return { deleted: true };
      }

      case 'create_paths':
        return this.#create('paths', 'path', args.paths, answer, (given) => ({
          path: normal(given.path),
          type: given.type,
          description: given.description ?? null,
          use_when: given.use_when ?? [],
        }));
      case 'get_path':
        if (!args.id && !args.path) throw new Refusal('validation_error');
        return {
          path: args.id
            ? this.#one('paths', 'id', args.id)
            : this.#one('paths', 'path', normal(args.path)),
        };
      case 'list_paths':
        return { paths: this.#paths(args.feature_slug ? [args.feature_slug] : [], args.type) };
      case 'update_path':
        return this.#update('path', this.#one('paths', 'id', args.id), args, answer, [
          'description',
          'use_when',
        ]);
      case 'delete_path':
        this.#one('paths', 'id', args.id);
        this.#drop('paths', 'id', args.id);
        this.#drop('feature_paths', 'to', args.id);
        return { deleted: true };
      case 'link_paths_to_feature': {
        const from = this.#one('features', 'slug', args.feature_slug).id;
        return this.#link('feature_paths', from, 'paths', 'id', args.path_ids);
      }
      case 'unlink_path_from_feature': {
        const from = this.#one('features', 'slug', args.feature_slug).id;
        return this.#unlink('feature_paths', from, args.path_id);
      }

      case 'create_requirements': {
        const feature_id = this.#one('features', 'slug', args.feature_slug).id;
        return this.#create('requirements', undefined, args.requirements, answer, (given) => ({
          feature_id,
          text: given.text,
          notes: given.notes ?? [],
        }));
      }
      case 'get_requirement':
        return { requirement: this.#one('requirements', 'id', args.id) };
      case 'list_requirements':
        return { requirements: this.#requirements(args.feature_slug) };
      case 'update_requirement':
        return this.#update('requirement', this.#one('requirements', 'id', args.id), args, answer, [
          'text',
          'notes',
        ]);
      case 'delete_requirement':
        this.#one('requirements', 'id', args.id);
        this.#drop('requirements', 'id', args.id);
        return { deleted: true };

      case 'create_objective': {
        const created = this.#create(
          'objectives',
          'slug',
          [args],
          { objectives: [answer.objective] },
          (given) => ({
            slug: given.slug,
            name: given.name,
            description: given.description ?? null,
            status: given.status ?? 'pending',
            plan_file_path: given.plan_file_path ?? null,
          }),
        );
        return { objective: created.objectives[0] };
      }
      case 'get_objective':
        return { objective: this.#one('objectives', 'slug', args.slug) };
      case 'list_objectives':
        return {
          objectives: sorted(withStatus(rows.objectives, args.status), 'created_at').reverse(),
        };
      case 'update_objective':
        return this.#update('objective', this.#one('objectives', 'slug', args.slug), args, answer, [
          'name',
          'description',
          'status',
          'plan_file_path',
        ]);
      case 'delete_objective': {
        const { id } = this.#one('objectives', 'slug', args.slug);
        this.#drop('objectives', 'id', id);
        this.#drop('tasks', 'objective_id', id);
        this.#drop('objective_features', 'from', id);
        this.#drop('objective_tickets', 'from', id);
        return { deleted: true };
      }
      case 'link_objective_to_features': {
        const from = this.#one('objectives', 'slug', args.objective_slug).id;
        return this.#link('objective_features', from, 'features', 'slug', args.feature_slugs);
      }
      case 'unlink_objective_from_feature': {
        const from = this.#one('objectives', 'slug', args.objective_slug).id;
        const to = rows.features.find(({ slug }) => slug === args.feature_slug)?.id;
        return this.#unlink('objective_features', from, to);
      }
      case 'link_objective_to_tickets': {
        const from = this.#one('objectives', 'slug', args.objective_slug).id;
        return this.#link('objective_tickets', from, 'tickets', 'key', args.ticket_keys);
      }
      case 'unlink_objective_from_ticket': {
        const from = this.#one('objectives', 'slug', args.objective_slug).id;
        const to = rows.tickets.find(({ key }) => key === args.ticket_key)?.id;
        return this.#unlink('objective_tickets', from, to);
      }

      case 'create_tasks': {
        const objective_id = this.#one('objectives', 'slug', args.objective_slug).id;
        let order = Math.max(-1, ...this.#tasks(args.objective_slug).map((task) => task.order));
        return this.#create('tasks', undefined, args.tasks, answer, (given) => {
          order += 1;
          return { objective_id, text: given.text, status: given.status ?? 'pending', order };
        });
      }
      case 'get_task':
        return { task: this.#one('tasks', 'id', args.id) };
      case 'list_tasks':
        return { tasks: withStatus(this.#tasks(args.objective_slug), args.status) };
      case 'update_task':
        return this.#update('task', this.#one('tasks', 'id', args.id), args, answer, [
          'text',
          'status',
        ]);
      case 'delete_task':
        this.#one('tasks', 'id', args.id);
        this.#drop('tasks', 'id', args.id);
        return { deleted: true };
      case 'reorder_tasks': {
        const tasks = this.#tasks(args.objective_slug);
        const first = args.task_ids.map((id: string) => tasks.find((task) => task.id === id));
        if (first.includes(undefined) || new Set(first).size < first.length) {
          throw new Refusal('validation_error');
        }
        const ordered = [...first, ...tasks.filter((task) => !first.includes(task))];
        for (const [order, task] of ordered.entries()) {
          if (task.order !== order) touch(task, { order }, answer.tasks?.[order]);
        }
        return { tasks: ordered };
      }

      case 'create_tickets':
        return this.#create('tickets', 'key', args.tickets, answer, (given) => ({
          key: given.key,
          title: given.title ?? null,
          description: given.description ?? null,
        }));
      case 'get_ticket':
        return { ticket: this.#one('tickets', 'key', args.key) };
      case 'list_tickets':
        return { tickets: sorted(rows.tickets, 'key') };
      case 'update_ticket':
        return this.#update('ticket', this.#one('tickets', 'key', args.key), args, answer, [
          'title',
          'description',
        ]);
      case 'delete_ticket': {
        const { id } = this.#one('tickets', 'key', args.key);
        this.#drop('tickets', 'id', id);
        this.#drop('objective_tickets', 'to', id);
        return { deleted: true };
      }

      case 'get_feature_context':
        return {
          feature: this.#one('features', 'slug', args.slug),
          paths: this.#paths([args.slug]),
          requirements: this.#requirements(args.slug),
        };
      case 'get_objective_context':
        return {
          objective: this.#one('objectives', 'slug', args.slug),
          tasks: this.#tasks(args.slug),
          features: this.#linked('objective_features', args.slug, 'features', 'slug'),
          tickets: this.#linked('objective_tickets', args.slug, 'tickets', 'key'),
        };
      case 'find_relevant_paths': {
        const wanted = args.query.toLowerCase();
        const exact = this.#paths(args.feature_slugs ?? [], args.type).filter((path) =>
          [path.description ?? '', ...path.use_when].some((text) =>
            text.toLowerCase().includes(wanted),
          ),
        );
        // Matches of single words may follow; the tests of the search check them.
        return { paths: [...exact, ...(answer.paths ?? []).slice(exact.length)] };
      }
      case 'build_context':
        return { context: this.#context(args) };
      default:
        throw new Error(`no such tool: ${tool}`);
    }
  }

  #one(table: Table, column: string, value: unknown): Row {
    const found = this.rows[table].find((row) => row[column] === value);
    if (!found) throw new Refusal('not_found');
    return found;
  }

  #create(
    table: Table,
    unique: string | undefined,
    given: Row[],
    answer: Row,
    columns: (given: Row) => Row,
  ): Row {
    const created = given.map((element, index) => {
      const row = columns(element);
      if (unique && this.rows[table].some((other) => other[unique] === row[unique])) {
        throw new Refusal('constraint_violation');
      }
      const { id, created_at } = answer[table]?.[index] ?? {};
      Object.assign(row, { id, created_at, updated_at: created_at });
      this.rows[table].push(row);
      return row;
    });
    return { [table]: created };
  }

  #update(noun: string, row: Row, args: Row, answer: Row, columns: string[]): Row {
    const changes = Object.fromEntries(
      columns.filter((column) => column in args).map((column) => [column, args[column]]),
    );
    const changed = Object.entries(changes).some(
      ([column, value]) => JSON.stringify(row[column]) !== JSON.stringify(value),
    );
    if (changed) touch(row, changes, answer[noun]);
    return { [noun]: row };
  }

  #drop(table: Table, column: string, value: unknown): void {
    this.rows[table] = this.rows[table].filter((row) => row[column] !== value);
  }

  #link(links: Table, from: string, table: Table, column: string, targets: string[]): Row {
    for (const target of targets) {
      const to = this.#one(table, column, target).id;
      if (!this.rows[links].some((link) => link.from === from && link.to === to)) {
        this.rows[links].push({ from, to });
      }
    }
    return { linked: targets.length };
  }

  #unlink(links: Table, from: string, to: string | undefined): Row {
    const left = this.rows[links].filter((link) => link.from !== from || link.to !== to);
    if (left.length === this.rows[links].length) throw new Refusal('not_found');
    this.rows[links] = left;
    return { unlinked: true };
  }

  #linked(links: Table, slug: string, table: Table, column: string): Row[] {
    const from = this.#one(links === 'feature_paths' ? 'features' : 'objectives', 'slug', slug).id;
    const ids = this.rows[links].filter((link) => link.from === from).map(({ to }) => to);
    return sorted(
      this.rows[table].filter(({ id }) => ids.includes(id)),
      column,
    );
  }

  #paths(slugs: string[], type?: string): Row[] {
    const rows =
      slugs.length === 0
        ? this.rows.paths
        : slugs.flatMap((slug) => this.#linked('feature_paths', slug, 'paths', 'path'));
    return sorted(
      [...new Set(rows)].filter((row) => !type || row.type === type),
      'path',
    );
  }

  #requirements(slug: string): Row[] {
    const { id } = this.#one('features', 'slug', slug);
    return sorted(
      this.rows.requirements.filter(({ feature_id }) => feature_id === id),
      'created_at',
    );
  }

  #tasks(slug: string): Row[] {
    const { id } = this.#one('objectives', 'slug', slug);
    return sorted(
      this.rows.tasks.filter(({ objective_id }) => objective_id === id),
      'order',
    );
  }

  #context({ objective_slug, feature_slugs = [] }: Row): string {
    const parts: string[] = [];
    const slugs = new Set<string>();
    if (objective_slug) {
      const objective = this.#one('objectives', 'slug', objective_slug);
      parts.push(
        [
          `# Objective: ${objective.name}`,
          `**Slug:** ${objective.slug}`,
          `**Status:** ${objective.status}`,
          ...(objective.description ? [`**Description:** ${objective.description}`] : []),
          ...(objective.plan_file_path ? [`**Plan:** ${objective.plan_file_path}`] : []),
        ].join('\n'),
      );
      const boxes: Row = { pending: ' ', in_progress: '~', completed: 'x' };
      const tasks = this.#tasks(objective_slug);
      parts.push(
        block('## Tasks', tasks, (row) => `- [${boxes[row.status]}] ${deep(row.text, 2)}`),
      );
      const tickets = this.#linked('objective_tickets', objective_slug, 'tickets', 'key');
      parts.push(
        block('## Tickets', tickets, ({ key, title }) =>
          title ? `- ${deep(`${key}: ${title}`, 2)}` : `- ${deep(key, 2)}`,
        ),
      );
      for (const { slug } of this.#linked(
        'objective_features',
        objective_slug,
        'features',
        'slug',
      )) {
        slugs.add(slug);
      }
    }
    for (const slug of feature_slugs) slugs.add(slug);
    for (const slug of slugs) {
      const feature = this.rows.features.find((row) => row.slug === slug);
      if (!feature) continue;
      parts.push(
        `## Feature: ${feature.name}\n**Slug:** ${slug}${feature.description ? `\n**Description:** ${feature.description}` : ''}`,
      );
      parts.push(
        block('### Requirements', this.#requirements(slug), ({ text, notes }) =>
          [`- ${deep(text, 2)}`, ...notes.map((note: string) => `  - ${deep(note, 4)}`)].join('\n'),
        ),
      );
      parts.push(
        block('### Paths', this.#paths([slug]), ({ path, type, description, use_when }) => {
          const name = `\`${path}${type === 'directory' ? '/' : ''}\``;
          const line = `- ${deep(description ? `${name} - ${description}` : name, 2)}`;
          return use_when.length > 0
            ? `${line}\n  - Use when: ${deep(use_when.join('; '), 4)}`
            : line;
        }),
      );
    }
    return parts.filter((part) => part !== '').join('\n\n');
  }
}

function emptyTables(): { [table in Table]: Row[] } {
  return {
    features: [],
    paths: [],
    requirements: [],
    objectives: [],
    tasks: [],
    tickets: [],
    feature_paths: [],
    objective_features: [],
    objective_tickets: [],
  };
}

/** A changed row takes the new time from the answer, which must be later. */
function touch(row: Row, changes: Row, answered: Row): void {
  const at = answered?.updated_at;
  Object.assign(row, changes, { updated_at: at > row.updated_at ? at : 'later' });
}

function sorted(rows: readonly Row[], column: string): Row[] {
  return [...rows].sort((a, b) => (a[column] < b[column] ? -1 : 1));
}

function withStatus(rows: readonly Row[], status: string | undefined): Row[] {
  return rows.filter((row) => !status || row.status === status);
}

function normal(path: string): string {
  return path.replace(/^(\.?\/)+/, '').replace(/\/+$/, '');
}

function block(heading: string, rows: readonly Row[], line: (row: Row) => string): string {
  return rows.length === 0 ? '' : [heading, ...rows.map(line)].join('\n');
}

/** A text with all but its first line indented by `by` spaces. */
function deep(text: string, by: number): string {
  return text.split('\n').join(`\n${' '.repeat(by)}`);
}
