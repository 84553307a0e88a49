// biome-ignore lint/suspicious/noExplicitAny: answers of which only the ids are of interest
type Body = any;

/** A call, with the answers to the calls before it at hand by the name of their tool. */
export type Step = readonly [tool: string, args: (last: (tool: string) => Body) => object];

const plain =
  (args: object = {}) =>
  () =>
    args;
const feature = (slug: string, name: string, description: string) => ({ slug, name, description });
const path = (path: string, description: string, ...use_when: string[]) => ({
  path,
  type: path.endsWith('.ts') ? 'file' : 'directory',
  description,
  use_when,
});

/** A plan of this project, made as an agent would, that leaves nothing but the plan behind. */
export const planning: readonly Step[] = [
  [
    'create_features',
    plain({
      features: [
        feature('git', 'The git room', 'One mutation is one commit that harms nothing.'),
        feature('git/recovery', 'Recovery', 'What a dead process left is finished or undone.'),
        feature('store', 'The store', 'Records of the work tree: read, changed, searched.'),
        feature('store/search', 'Search', 'Words in any order, misspelt, in any script.'),
        feature('toolsets', 'The toolsets', 'Five seeds, each in its own wire format.'),
      ],
    }),
  ],
  [
    'create_paths',
    plain({
      paths: [
        path('src/git', 'Locks, objects, index, refs', 'a commit goes wrong'),
        path('src/git/mutation.ts', 'The order of a write', 'a crash left something behind'),
        path('src/git/recovery.ts', 'Finishes or undoes', 'a crash left something behind'),
        path('src/store/view.ts', 'The files as records', 'an outside edit is not seen'),
        path('src/store/search', 'The search engine', 'something is not found'),
      ],
    }),
  ],
  [
    'link_paths_to_feature',
    (last) => ({ feature_slug: 'git', path_ids: idsOf(last('create_paths').data.paths, 0, 1) }),
  ],
  [
    'link_paths_to_feature',
    (last) => ({
      feature_slug: 'git/recovery',
      path_ids: idsOf(last('create_paths').data.paths, 1, 2),
    }),
  ],
  [
    'link_paths_to_feature',
    (last) => ({
      feature_slug: 'store/search',
      path_ids: idsOf(last('create_paths').data.paths, 4),
    }),
  ],
  [
    'create_requirements',
    plain({
      feature_slug: 'git/recovery',
      requirements: [
        {
          text: 'An acknowledged change survives a power cut',
          notes: ['fsync before the ref moves'],
        },
        { text: 'A restart needs no human' },
      ],
    }),
  ],
  [
    'create_objective',
    plain({
      slug: 'first-release',
      name: 'First release',
      description: 'What a newcomer can trust blindly.',
      plan_file_path: 'docs/plan.md',
    }),
  ],
  [
    'create_tasks',
    plain({
      objective_slug: 'first-release',
      tasks: [
        { text: 'Kill the server at every write' },
        { text: 'Measure beside native git', status: 'in_progress' },
        { text: 'Write the guide' },
      ],
    }),
  ],
  [
    'create_tickets',
    plain({ tickets: [{ key: 'MB-1', title: 'Ship it', description: 'To the registry.' }] }),
  ],
  [
    'link_objective_to_features',
    plain({ objective_slug: 'first-release', feature_slugs: ['git/recovery', 'store/search'] }),
  ],
  ['link_objective_to_tickets', plain({ objective_slug: 'first-release', ticket_keys: ['MB-1'] })],
];

/** One call at least of every tool, on top of the plan. */
export const everything: readonly Step[] = [
  ['get_feature', plain({ slug: 'git' })],
  ['list_features', plain({ parent_slug: 'git' })],
  ['update_feature', plain({ slug: 'git', name: 'Git' })],
  ['get_path', plain({ path: 'src/git' })],
  ['list_paths', plain({ feature_slug: 'git' })],
  ['update_path', (last) => ({ id: last('get_path').data.path.id, description: 'Git itself' })],
  [
    'unlink_path_from_feature',
    (last) => ({ feature_slug: 'git', path_id: last('get_path').data.path.id }),
  ],
  ['delete_path', (last) => ({ id: last('get_path').data.path.id })],
  ['list_requirements', plain({ feature_slug: 'git/recovery' })],
  ['get_requirement', (last) => ({ id: requirement(last, 0) })],
  ['update_requirement', (last) => ({ id: requirement(last, 0), notes: [] })],
  ['delete_requirement', (last) => ({ id: requirement(last, 1) })],
  ['get_objective', plain({ slug: 'first-release' })],
  ['list_objectives', plain()],
  ['update_objective', plain({ slug: 'first-release', status: 'in_progress' })],
  ['list_tasks', plain({ objective_slug: 'first-release' })],
  ['get_task', (last) => ({ id: task(last, 0) })],
  ['update_task', (last) => ({ id: task(last, 0), status: 'completed' })],
  ['claim_task', (last) => ({ id: task(last, 0) })],
  ['release_task', (last) => ({ id: task(last, 0) })],
  [
    'reorder_tasks',
    (last) => ({
      objective_slug: 'first-release',
      task_ids: [task(last, 2), task(last, 1), task(last, 0)],
    }),
  ],
  ['delete_task', (last) => ({ id: task(last, 1) })],
  ['get_ticket', plain({ key: 'MB-1' })],
  ['list_tickets', plain()],
  ['update_ticket', plain({ key: 'MB-1', title: 'Ship it soon' })],
  ['get_feature_context', plain({ slug: 'git/recovery' })],
  ['get_objective_context', plain({ slug: 'first-release' })],
  ['find_relevant_paths', plain({ query: 'crash left' })],
  ['build_context', plain({ objective_slug: 'first-release' })],
  [
    'unlink_objective_from_feature',
    plain({ objective_slug: 'first-release', feature_slug: 'store/search' }),
  ],
  ['unlink_objective_from_ticket', plain({ objective_slug: 'first-release', ticket_key: 'MB-1' })],
  ['delete_ticket', plain({ key: 'MB-1' })],
  ['delete_objective', plain({ slug: 'first-release' })],
  ['delete_feature', plain({ slug: 'toolsets' })],

  ['initialize_memory_bank', plain({ path: '.' })],
  ['set_memory_bank_path', plain({ path: '.' })],
  ['track_progress', plain({ action: 'Release', description: 'All toolsets are served' })],
  ['update_active_context', plain({ tasks: ['Write the guide'] })],
  [
    'log_decision',
    plain({
      title: 'Files, not a database',
      context: 'Memory has to be reviewed.',
      decision: 'One file a record.',
      alternatives: ['SQLite'],
    }),
  ],
  ['write_memory_bank_file', plain({ filename: 'notes.md', content: '# Notes\n' })],
  ['read_memory_bank_file', plain({ filename: 'notes.md' })],
  ['list_memory_bank_files', plain()],
  ['get_memory_bank_status', plain()],
  ['Product_Context', plain()],
  ['Active_Context', plain()],
  ['Progress', plain()],
  ['Decision_Log', plain()],
  ['System_Patterns', plain()],
  ['process_umb_command', plain({ command: 'UMB' })],
  ['complete_umb', plain()],
  ['switch_mode', plain({ mode: 'code' })],
  ['get_current_mode', plain()],
  ['switch_mode', plain({ mode: 'none' })],

  ['activate_project', plain()],
  [
    'store_memory',
    plain({ title: 'How it is built', type: 'design_doc', content: '# Design\n\nRooms.\n' }),
  ],
  ['list_memories', plain()],
  ['get_memory', (last) => ({ memory_id: last('store_memory').memory_id })],
  ['update_memory', (last) => ({ memory_id: last('store_memory').memory_id, content: '# New\n' })],
  ['delete_memory', (last) => ({ memory_id: last('store_memory').memory_id })],

  ['memory_write', plain({ category: 'patterns', key: 'names', value: 'Files are nouns.' })],
  ['memory_read', plain({ category: 'patterns', key: 'names' })],
  ['memory_search', plain({ query: 'nouns' })],
  ['memory_list', plain()],
  ['memory_prune', plain()],
  ['memory_delete', plain({ category: 'patterns', key: 'names', confirm: true })],

  ['activate', plain({ bank_type: 'project', bank_id: 'memory-bank' })],
  [
    'update',
    plain({
      bank_type: 'project',
      bank_id: 'memory-bank',
      target_file: 'context.md',
      operation: 'append',
      content: 'We release soon.\n',
    }),
  ],
  ['list', plain()],
  ['swap', plain({ bank_type: 'project', bank_id: 'memory-bank' })],

  ['search_memory', plain({ query: 'recovery' })],
  ['brief', plain({ prompt: 'recovery' })],
  ['record_history', plain({ path: 'decisionLog.md' })],
  ['read_as_of', plain({ revision: 'HEAD', path: 'decisionLog.md' })],
  ['search_as_of', plain({ revision: 'HEAD', query: 'database' })],
  ['diff_memory', plain({ from: 'HEAD~3' })],
  ['list_branches', plain()],
  ['blame_record', plain({ path: 'decisionLog.md' })],
  ['restore_memory', plain({ path: 'decisionLog.md', revision: 'HEAD~1', confirm: true })],
  ['verify_memory', plain({ path: 'decisionLog.md' })],
  ['forget_memory', plain({ record: 'notes.md', reason: 'It says nothing.' })],
  ['sync_memory', plain({ confirm: true })],
  ['resolve_conflicts', plain()],
  ['resolve_conflicts', plain()],
  ['sync_memory', plain({ confirm: true })],
];

function idsOf(records: Body, ...which: number[]): string[] {
  return which.map((at) => records[at].id);
}

function requirement(last: (tool: string) => Body, at: number): string {
  return last('list_requirements').data.requirements[at].id;
}

function task(last: (tool: string) => Body, at: number): string {
  return last('list_tasks').data.tasks[at].id;
}
