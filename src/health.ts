import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { App } from './app.ts';
import type { CallOptions } from './call.ts';
import { MemoryError } from './core/error.ts';
import type { Session } from './core/session.ts';
import { GitConfig } from './git/config.ts';
import { findWorkTree } from './git/discover.ts';
import { NodeFiles } from './git/files.ts';
import { IgnoreRules } from './git/ignore.ts';
import { setMergeDriver } from './merge-driver.ts';
import { type RepositoryKind, repositoryKind } from './repository-kind.ts';
import { bankFolder, findRoot, type RootInput } from './root.ts';

/** What one look at something found. */
export interface Finding {
  readonly what: string;
  readonly state: 'good' | 'note' | 'bad';
  /** What was found and, where something is wrong, what to do. */
  readonly text: string;
  /** Mends it, where that is safe; returns what was done. */
  readonly fix?: () => Promise<string>;
}

/** A lock that is older than this, in milliseconds, is likely to be left over. */
const oldLock = 60_000;

/**
 * Looks at everything that can keep the memory of a project from working.
 *
 * @param program the command that git is to merge with.
 */
export async function checkHealth(
  app: App,
  session: Session,
  place: Omit<RootInput, 'clientRoots'>,
  program: readonly string[],
  options: CallOptions,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const attempt = async (what: string, look: () => Promise<Finding[]>) => {
    try {
      findings.push(...(await look()));
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      findings.push({ what, state: 'bad', text: error.text });
    }
  };
  findings.push({ what: 'Node.js', state: 'good', text: process.versions.node });
  let root: string | undefined;
  await attempt('Project', async () => {
    const found = await findRoot({ ...place, clientRoots: async () => [] });
    root = found.path;
    return [{ what: 'Project', state: 'good', text: `${found.path} (${found.source})` }];
  });
  if (root === undefined) return findings;
  const here = root;
  let repository: RepositoryKind | undefined;
  await attempt('Repository', async () => {
    repository = await repositoryKind(here);
    return [lookAtRepository(repository)];
  });
  if (repository) {
    const found = repository;
    await attempt('Ignore rules', async () => [lookAtIgnoring(here, place)]);
    findings.push(...lookAtLocks(found), lookAtDriver(here, found, program));
    findings.push(...lookAtSigning(here, place));
  }
  await attempt('Records', () => lookAtRecords(app, session, options));
  await attempt('Rule files', () => lookAtRules(app, session, options));
  return findings;
}

function lookAtRepository(repository: RepositoryKind | undefined): Finding {
  const what = 'Repository';
  if (!repository) {
    return { what, state: 'note', text: 'None yet; the first write makes one with "git init".' };
  }
  const { kind, top, shallow } = repository;
  const text = `${kind} ${top}${shallow ? ', shallow: older history is missing' : ''}`;
  return { what, state: shallow ? 'note' : 'good', text };
}

function lookAtIgnoring(root: string, { env }: Pick<RootInput, 'env'>): Finding {
  const files = new NodeFiles();
  const tree = findWorkTree(files, root);
  if (tree) {
    const config = GitConfig.read(files, { ...tree, branch: undefined, env });
    const bank = relative(tree.top, join(root, bankFolder)).split(sep).join('/');
    // Throws with the rule and both ways out.
    new IgnoreRules(files, tree, config, env).check([`${bank}/config.yaml`]);
  }
  return { what: 'Ignore rules', state: 'good', text: `do not cover ${bankFolder}` };
}

function lookAtLocks({ gitDir }: RepositoryKind): Finding[] {
  const lock = join(gitDir, 'index.lock');
  if (!existsSync(lock)) return [];
  const old = Date.now() - statSync(lock).mtimeMs > oldLock;
  const text = old
    ? `${lock} is there since ${statSync(lock).mtime.toISOString()}: if no git command runs, remove it.`
    : `${lock} is there: a git command is running.`;
  return [{ what: 'Locks', state: old ? 'bad' : 'note', text }];
}

function lookAtDriver(
  root: string,
  { commonDir }: RepositoryKind,
  program: readonly string[],
): Finding {
  const what = 'Merge driver';
  const config = readFileSync(join(commonDir, 'config'), 'utf8');
  const installed = /\[merge "memory-bank"\]/.test(config);
  const current = program.every((word) => config.includes(word.replaceAll('\\', '\\\\')));
  if (installed && current) return { what, state: 'good', text: 'git merges the memory by record' };
  const text = installed
    ? 'It starts a program in another place than this one.'
    : 'It is not installed here: git merges the memory line by line.';
  const fix = async () => {
    await setMergeDriver(root, program, 'full');
    return 'installed';
  };
  return {
    what,
    state: 'note',
    text: `${text} "memory-bank install-merge-driver" installs it.`,
    fix,
  };
}

function lookAtSigning(root: string, { env }: Pick<RootInput, 'env'>): Finding[] {
  const files = new NodeFiles();
  const tree = findWorkTree(files, root);
  const value =
    tree && GitConfig.read(files, { ...tree, branch: undefined, env }).get('commit.gpgsign');
  if (!value || !/^(true|yes|on|1)$/i.test(value)) return [];
  const text = 'commit.gpgsign is set, but the commits of the memory are not signed.';
  return [{ what: 'Signing', state: 'note', text }];
}

async function lookAtRecords(app: App, session: Session, options: CallOptions): Promise<Finding[]> {
  const types = (await app.toolsets()).flatMap(({ records }) => records);
  return app.run(session, 'doctor', options, async ({ store }) => {
    const found: Finding[] = [];
    let count = 0;
    for (const type of types) {
      const { records, damaged } = await store.list(type);
      count += records.length;
      for (const { error } of damaged)
        found.push({ what: 'Records', state: 'bad', text: error.text });
    }
    return found.length > 0
      ? found
      : [{ what: 'Records', state: 'good', text: `${count}, all of them can be read` }];
  });
}

async function lookAtRules(app: App, session: Session, options: CallOptions): Promise<Finding[]> {
  const { modes, skipped } = await app.run(session, 'doctor', options, (context) =>
    context.modes.list(),
  );
  return [
    { what: 'Modes', state: 'good', text: modes.map(({ name }) => name).join(', ') },
    ...skipped.map(({ source, reason }): Finding => {
      return { what: 'Rule file', state: 'note', text: `${source} sets no mode: ${reason}` };
    }),
  ];
}
