import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../src/app/app.ts';
import type { Session } from '../../src/core/memory/session.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';
import { report, table } from './report.ts';

/**
 * Measures how many pull requests of a team conflict on a server, which merges line by line and without the
 * merge driver.
 */

const requests = 30;
const changesEach = 4;
const layouts = ['log', 'entries'] as const;
const ways = ['merge', 'squash', 'rebase'] as const;

type Way = (typeof ways)[number];

/** The identity of the server. */
const server = ['-c', 'user.name=Server', '-c', 'user.email=server@example.org'];

/** A clone with the program, as one member of the team has it. */
class Member {
  readonly repo: Repo;
  readonly app: App;
  readonly session: Session;

  constructor(root: string) {
    this.repo = new Repo(root);
    this.app = projectApp(root);
    this.session = this.app.connect({ isAgent: true });
  }

  async call(tool: string, args: object): Promise<JsonObject> {
    const reply = await this.app.call(this.session, tool, args);
    if (!reply || reply.error !== undefined) throw new Error(`${tool}: ${reply?.text}`);
    return Object(reply.body);
  }
}

/** Makes a change that leaves a mark in the memory, which has to be there once. */
type Change = (member: Member, mark: string, request: number) => Promise<unknown>;

/** The kinds of change that a pull request is a random mix of; no two change the same record. */
const kinds: Readonly<Record<string, Change>> = {
  decision: (member, mark) =>
    member.call('log_decision', { title: mark, context: 'Why', decision: `Do ${mark}.` }),
  progress: (member, mark) => member.call('track_progress', { action: 'Fix', description: mark }),
  knowledge: (member, mark) =>
    member.call('memory_write', { category: 'patterns', key: mark, value: `It is ${mark}.` }),
  async document(member, mark) {
    await member.call('activate_project', {});
    await member.call('store_memory', {
      title: mark,
      type: 'design_doc',
      content: `About ${mark}.`,
    });
  },
  feature: (member, mark) =>
    member.call('create_features', { features: [{ slug: mark, name: mark }] }),
  task: (member, mark) =>
    member.call('create_tasks', { objective_slug: 'plan', tasks: [{ text: mark }] }),
  requirement: (member, mark) =>
    member.call('create_requirements', { feature_slug: 'auth', requirements: [{ text: mark }] }),
  page: (member, mark) =>
    member.call('write_memory_bank_file', { filename: `notes/${mark}.md`, content: `# ${mark}\n` }),
  // The document, the file of a bank and the tasks that a request changes are its own.
  async revision(member, mark, request) {
    await member.call('activate_project', {});
    const { memories } = await member.call('list_memories', { limit: 1000 });
    const own = listOf(memories).find(({ title }) => title === ownTitle(request));
    const { memory } = await member.call('get_memory', { memory_id: own?.id });
    const text = `${Object(memory).content}\n\nNow ${mark}.`;
    return member.call('update_memory', { memory_id: own?.id, content: text });
  },
  async bank(member, mark, request) {
    await member.call('activate', bank);
    await member.call('update', { ...bank, ...ownFile(request), content: `Now ${mark}.` });
  },
  async order(member, mark, request) {
    const slug = ownTitle(request);
    const { data } = await member.call('list_tasks', { objective_slug: slug });
    const ids = listOf(Object(data).tasks).map(({ id }) => id);
    await member.call('reorder_tasks', { objective_slug: slug, task_ids: ids.reverse() });
    await member.call('create_tasks', { objective_slug: slug, tasks: [{ text: mark }] });
  },
};

const listOf = (value: unknown) => [value].flat().map((one) => Object(one));
const bank = { bank_type: 'project', bank_id: 'team' };
const ownTitle = (request: number) => `own-${request}`;
const ownFile = (request: number) => {
  return { target_file: `doc/${ownTitle(request)}.md`, operation: 'append' };
};

/** Makes what only one request changes. */
async function begin(member: Member, request: number): Promise<void> {
  const title = ownTitle(request);
  await member.call('create_objective', { slug: title, name: title });
  await member.call('create_tasks', {
    objective_slug: title,
    tasks: ['a', 'b', 'c'].map((text) => ({ text })),
  });
  await member.call('activate_project', {});
  await member.call('store_memory', { title, type: 'design_doc', content: 'First.' });
  await member.call('activate', bank);
  await member.call('update', { ...bank, ...ownFile(request), content: 'First.' });
}

/** Makes the pull requests, each as a branch from the same commit. */
async function prepare(layout: (typeof layouts)[number]) {
  const random = new Random(49);
  const place = newFolder();
  const member = new Member(Repo.create().root);
  const { repo, app, session } = member;
  await member.call('initialize_memory_bank', { path: repo.root });
  if (layout === 'entries') {
    await app.run(session, 'layout', {}, ({ project }) => project.changeLayout('entries'));
  }
  await member.call('create_objective', { slug: 'plan', name: 'Plan' });
  await member.call('create_features', { features: [{ slug: 'auth', name: 'Auth' }] });
  for (let request = 0; request < requests; request++) await begin(member, request);
  for (let i = 0; i < 5; i++) {
    for (const [kind, change] of Object.entries(kinds))
      await change(member, `${kind}-base-${i}`, i);
  }
  const names = Object.keys(kinds);
  const marks: string[] = [];
  for (let n = 0; n < requests; n++) {
    repo.git('checkout', '-q', '-b', `request-${n}`, 'main');
    const author = app.connect({ isAgent: true });
    const as: Member = Object.assign(Object.create(Member.prototype), {
      repo,
      app,
      session: author,
    });
    for (let i = 0; i < changesEach; i++) {
      const kind = names[random.below(names.length)] ?? '';
      const mark = `${kind}-${n}-${i}`;
      marks.push(mark);
      await kinds[kind]?.(as, mark, n);
    }
  }
  await app.close();
  repo.git('clone', '-q', '--bare', '.', join(place, 'bare.git'));
  return { repo, bare: new Repo(join(place, 'bare.git')), marks };
}

/** Merges the branches one after another as a server does; returns those that conflict. */
function mergeAll(bare: Repo, way: Way): { readonly conflicts: number; readonly head: string } {
  let head = bare.git('rev-parse', 'main').trim();
  let conflicts = 0;
  for (let n = 0; n < requests; n++) {
    const tip = bare.git('rev-parse', `request-${n}`).trim();
    const next = way === 'rebase' ? rebased(bare, head, tip) : merged(bare, head, tip, way);
    if (next === undefined) conflicts += 1;
    else head = next;
  }
  return { conflicts, head };
}

function merged(bare: Repo, head: string, tip: string, way: Way): string | undefined {
  const tree = mergedTree(bare, ['--write-tree', head, tip]);
  if (tree === undefined) return undefined;
  const parents = way === 'merge' ? ['-p', head, '-p', tip] : ['-p', head];
  return commitTree(bare, tree, parents);
}

/** Applies the commits of a branch one after another, in a work tree without the program. */
function rebased(bare: Repo, head: string, tip: string): string | undefined {
  const tree = new Repo(join(bare.root, '..', 'tree'));
  if (!existsSync(tree.root)) bare.git('worktree', 'add', '-q', '--detach', tree.root);
  tree.git('checkout', '-q', '--detach', head);
  try {
    tree.git(...server, 'cherry-pick', '--allow-empty', `${head}..${tip}`);
  } catch {
    tree.git('cherry-pick', '--abort');
    return undefined;
  }
  return tree.git('rev-parse', 'HEAD').trim();
}

function mergedTree(bare: Repo, args: readonly string[]): string | undefined {
  try {
    return bare.git('merge-tree', ...args).split('\n', 1)[0];
  } catch {
    // Git ends with 1 for a conflict.
    return undefined;
  }
}

function commitTree(bare: Repo, tree: string, parents: readonly string[]): string {
  return bare.git(...server, 'commit-tree', tree, ...parents, '-m', 'Merge').trim();
}

/** The number of marks that the merged memory does not have, and of those that it has more than once. */
async function counted(repo: Repo, bare: Repo, head: string, marks: readonly string[]) {
  repo.git('fetch', '-q', bare.root, head);
  repo.git('checkout', '-q', '-f', '--detach', 'FETCH_HEAD');
  const member = new Member(repo.root);
  const reading = (tool: string) =>
    member.app.call(member.session, tool, {}).then((reply) => JSON.stringify(reply?.body));
  const texts = [await reading('Decision_Log'), await reading('Progress')].join('\n');
  const added = repo.git('grep', '-h', '-F', 'Now ', 'HEAD');
  const files = repo.git('ls-tree', '-r', '--name-only', 'HEAD');
  await member.app.close();
  const times = (mark: string) => {
    if (mark.startsWith('decision')) return texts.split(`## ${mark} - `).length - 1;
    if (mark.startsWith('progress')) return texts.split(new RegExp(`: ${mark}(?!\\d)`)).length - 1;
    if (/^(?:revision|bank)/.test(mark)) return added.split(`Now ${mark}.`).length - 1;
    return files.split('\n').filter((path) => new RegExp(`/${mark}(?!\\d)`).test(path)).length;
  };
  const all = marks.map(times);
  return {
    lost: all.filter((count) => count === 0).length,
    twice: all.filter((one) => one > 1).length,
  };
}

const rows: string[][] = [];
for (const layout of layouts) {
  const { repo, bare, marks } = await prepare(layout);
  for (const way of ways) {
    const { conflicts, head } = mergeAll(bare, way);
    const { lost, twice } = await counted(repo, bare, head, marks);
    // The changes of a request that conflicts are not merged, and so not lost.
    const missing = conflicts === 0 ? String(lost) : '';
    rows.push([layout, way, ((100 * conflicts) / requests).toFixed(0), missing, String(twice)]);
    console.log(rows.at(-1)?.join(' | '));
  }
  repo.remove();
  bare.remove();
}

report('teams', 'Pull requests on a server', [
  `${requests} branches of ${changesEach} random changes each (decisions, progress, knowledge, documents and revisions of them, files of banks, features, tasks, their order, requirements, pages; no two change the same record) are merged one after another in a bare clone by \`git merge-tree\` and \`git cherry-pick\`, without the merge driver.`,
  table(['layout', 'way', 'conflicts per 100', 'lost', 'twice'], rows),
]);
