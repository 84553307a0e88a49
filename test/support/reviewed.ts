import { App } from '../../src/app/app.ts';
import { program } from '../../src/app/session/workspaces.ts';
import type { Session } from '../../src/core/memory/session.ts';
import type { AcceptRequest } from '../../src/core/memory/waiting-reviews.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { findMemory, openWorkspace } from '../../src/store/session/open-workspace.ts';
import { gitEnv, type Repo } from './repo.ts';

const ground = {
  env: gitEnv,
  calm: 0,
  lockTimeout: 5000,
  learnAfter: Number.POSITIVE_INFINITY,
};

/** Starts the app of a project, whose sessions can be agents. */
export function startApp(repo: Repo, files: Files = new NodeFiles()): App {
  return new App(
    {
      place: { flag: repo.root, env: {}, cwd: repo.root, home: '/nonexistent' },
      homeFolder: '/nonexistent/.memory-bank',
      durability: 'relaxed',
      log: () => undefined,
    },
    {
      toolsets: program.toolsets,
      openWorkspace: (options) => openWorkspace(options, { ...ground, files }),
      findMemory: async (options) => findMemory(options, { ...ground, files }),
    },
  );
}

export function agentOf(app: App, name = 'claude-code/2.1'): Session {
  const session = app.connect({ isAgent: true });
  session.agent = name;
  return session;
}

/**
 * Calls a tool, and returns the body of its answer.
 *
 * @throws Error if the call is refused.
 */
export async function call(app: App, session: Session, tool: string, args: object) {
  const reply = await app.call(session, tool, { ...args });
  if (reply?.error !== undefined) throw new Error(`${reply.error}: ${reply.text}`);
  return Object(reply?.body);
}

/** The last change that the first hit of a search shows, without the days. */
export async function lastChangeShown(
  app: App,
  query: string,
  session: Session = app.connect(),
): Promise<string> {
  const [hit] = (await call(app, session, 'search_memory', { query })).results ?? [];
  return String(hit?.changed).replaceAll(/\d{4}-\d\d-\d\d /g, '');
}

/** @throws Error if the change is refused. */
export async function write(
  app: App,
  session: Session,
  key: string,
  content = 'text',
): Promise<void> {
  await call(app, session, 'memory_write', { category: 'patterns', key, value: content });
}

/** The keys of the knowledge that a session sees, in order. */
export async function keys(app: App, session: Session): Promise<string[]> {
  const types = (await app.toolsets()).flatMap(({ records }) => records);
  const entry = types.find(({ name }) => name === 'knowledge-entry');
  if (!entry) throw new Error('There is no type of knowledge.');
  const { records } = await app.run(session, 'list', {}, ({ store }) => store.list(entry));
  return records.map(({ path }) => path.replace(/^.*\/|\.md$/g, '')).sort();
}

export const reviews = (app: App, session: Session) =>
  app.run(session, 'review', {}, (context) => context.reviews.list());

/** The name of the oldest review. */
export async function reviewOf(app: App, session: Session): Promise<string> {
  const [review] = await reviews(app, session);
  if (!review) throw new Error('No change waits for a review.');
  return review.name;
}

/** Merges a review, or some of its records; without a decision of conflicts by default. */
export const accept = (
  app: App,
  session: Session,
  name: string,
  request: Partial<AcceptRequest> = {},
) =>
  app.run(session, 'review', {}, (context) =>
    context.reviews.accept(name, { ours: [], theirs: [], ...request }),
  );

/** Turns the gate on, in the way that a project does: by a commit of its configuration. */
export async function requireReviews(
  repo: Repo,
  app: App,
  person: Session,
  line = 'review: required',
): Promise<void> {
  await write(app, person, 'first');
  const { folder } = await app.run(person, 'info', {}, ({ project }) => project.info());
  const at = (name: string) => `${folder}/${name}`.slice(repo.root.length + 1);
  if (!folder.startsWith(repo.root)) throw new Error('The memory is elsewhere.');
  const settings = repo.read(at('config.yaml')).replace('format: 1', 'format: 2');
  repo.write(at('config.yaml'), `${settings}${line}\n`);
  repo.gitWith({ cwd: folder }, 'commit', '-q', '-am', 'Require reviews');
}
