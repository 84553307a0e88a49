import fc from '../../support/fc.ts';
import type { Table } from './model.ts';

/** A value that is looked up when the step runs, because its row does not exist before. */
export interface Ref {
  readonly table: Table;
  readonly column: string;
  readonly nth: number;
}

/** One step of a random sequence. */
export type Step =
  | { readonly kind: 'call'; readonly tool: string; readonly args: object; readonly bad: boolean }
  | { readonly kind: 'restart' }
  | { readonly kind: 'checkout'; readonly branch: string };

const slug = fc.constantFrom('auth', 'auth/oauth', 'auth/oauth/google', 'authz', 'con', 'a-1');
const key = fc.constantFrom('JIRA-1', 'jira-1', 'GH#42', '../x', 'con', ' ');
const path = fc.constantFrom('src', './src/', 'src/a.ts', '/src/A.ts', 'a.yaml', 'a.yaml/b', 'ü/é');
const text = fc.constantFrom(
  ...['Sign in', 'sign out', 'yes', '1e3', '- x', 'a: b', '# c', 'null', '2026-01-01', '~'],
  ...['two\nlines', 'ends\n', ' spaces ', '\ttab', '"quoted"', "it's", 'ünï 進捗 🔴', '[x](y)'],
);
const maybeEmpty = fc.oneof({ weight: 5, arbitrary: text }, fc.constant(''));
const texts = fc.array(text, { maxLength: 3 });
const status = fc.constantFrom('pending', 'in_progress', 'completed');
const type = fc.constantFrom('file', 'directory');

function ref(table: Table, column = 'id'): fc.Arbitrary<Ref> {
  return fc.record({ table: fc.constant(table), column: fc.constant(column), nth: fc.nat(20) });
}

const aFeature = ref('features', 'slug');
const anObjective = ref('objectives', 'slug');
const aTicket = ref('tickets', 'key');
const aPath = ref('paths');
const aTask = ref('tasks');
const aRequirement = ref('requirements');

/** Arguments; those in `optional` may be missing. */
function args(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<object> {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
}

function batch(element: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> {
  return fc.array(element, { minLength: 1, maxLength: 3 });
}

const objectiveFields = { description: maybeEmpty, status, plan_file_path: maybeEmpty };

/** Every tool with arguments that its schema allows. */
export const calls: Record<string, fc.Arbitrary<object>> = {
  create_features: args({
    features: batch(args({ slug, name: text }, { description: maybeEmpty })),
  }),
  get_feature: args({ slug: aFeature }),
  list_features: args({}, { parent_slug: slug }),
  update_feature: args({ slug: aFeature }, { name: text, description: maybeEmpty }),
  delete_feature: args({ slug: aFeature }),

  create_paths: args({
    paths: batch(args({ path, type }, { description: maybeEmpty, use_when: texts })),
  }),
  get_path: args({}, { id: aPath, path }),
  list_paths: args({}, { feature_slug: aFeature, type }),
  update_path: args({ id: aPath }, { description: maybeEmpty, use_when: texts }),
  delete_path: args({ id: aPath }),
  link_paths_to_feature: args({ feature_slug: aFeature, path_ids: batch(aPath) }),
  unlink_path_from_feature: args({ feature_slug: aFeature, path_id: aPath }),

  create_requirements: args({
    feature_slug: aFeature,
    requirements: batch(args({ text }, { notes: texts })),
  }),
  get_requirement: args({ id: aRequirement }),
  list_requirements: args({ feature_slug: aFeature }),
  update_requirement: args({ id: aRequirement }, { text, notes: texts }),
  delete_requirement: args({ id: aRequirement }),

  create_objective: args({ slug, name: text }, objectiveFields),
  get_objective: args({ slug: anObjective }),
  list_objectives: args({}, { status }),
  update_objective: args({ slug: anObjective }, { name: text, ...objectiveFields }),
  delete_objective: args({ slug: anObjective }),
  link_objective_to_features: args({ objective_slug: anObjective, feature_slugs: batch(aFeature) }),
  unlink_objective_from_feature: args({ objective_slug: anObjective, feature_slug: aFeature }),
  link_objective_to_tickets: args({ objective_slug: anObjective, ticket_keys: batch(aTicket) }),
  unlink_objective_from_ticket: args({ objective_slug: anObjective, ticket_key: aTicket }),

  create_tasks: args({ objective_slug: anObjective, tasks: batch(args({ text }, { status })) }),
  get_task: args({ id: aTask }),
  list_tasks: args({ objective_slug: anObjective }, { status }),
  update_task: args({ id: aTask }, { text, status }),
  delete_task: args({ id: aTask }),
  reorder_tasks: args({ objective_slug: anObjective, task_ids: batch(aTask) }),

  create_tickets: args({
    tickets: batch(args({ key }, { title: maybeEmpty, description: maybeEmpty })),
  }),
  get_ticket: args({ key: aTicket }),
  list_tickets: args({}),
  update_ticket: args({ key: aTicket }, { title: maybeEmpty, description: maybeEmpty }),
  delete_ticket: args({ key: aTicket }),

  get_feature_context: args({ slug: aFeature }),
  get_objective_context: args({ slug: anObjective }),
  find_relevant_paths: args({ query: text }, { feature_slugs: fc.array(aFeature), type }),
  build_context: args({}, { objective_slug: anObjective, feature_slugs: fc.array(aFeature) }),
};

/** A value that no argument has, and that cannot be read as one. */
const wrong = 0.5;

/** A call with a wrong value among its arguments, which every tool refuses. */
function spoilt(given: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.tuple(given, fc.nat()).map(([args, nth]) => {
    const keys = Object.keys(args);
    const key = keys[nth % keys.length];
    return key === undefined ? args : { ...args, [key]: wrong };
  });
}

const call: fc.Arbitrary<Step> = fc
  .oneof(
    ...Object.entries(calls).map(([tool, args]) => ({
      weight: /^(create|link)/.test(tool) ? 4 : tool.startsWith('delete') ? 1 : 2,
      arbitrary: fc.record({
        kind: fc.constant('call' as const),
        tool: fc.constant(tool),
        args: fc.oneof({ weight: 15, arbitrary: args }, spoilt(args)),
      }),
    })),
  )
  .map((step) => ({ ...step, bad: Object.values(step.args).includes(wrong) }));

/** Random steps: mostly calls, sometimes a restart or a checkout. */
export const sequence: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 30, arbitrary: call },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('checkout' as const),
        branch: fc.constantFrom('main', 'topic'),
      }),
    },
  ),
  { maxLength: 120, size: 'max' },
);
