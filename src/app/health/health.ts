import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { describeCopy } from '../../core/memory/listing.ts';
import type { LeftOut } from '../../core/memory/search-hit.ts';
import type { Session } from '../../core/memory/session.ts';
import { readSyncState } from '../../core/memory/sync-state.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Enclosure } from '../../git/repository/enclosure.ts';
import { FoldedPaths, foldedDifference } from '../../store/records/folded-paths.ts';
import type { App } from '../app.ts';
import type { CallOptions } from '../session/call-context.ts';
import { describePlace } from '../session/placing.ts';
import { findRoot, type RootInput } from '../session/root.ts';
import { checkLine } from './check-line.ts';
import type { Finding } from './finding.ts';
import { checkRepository } from './repository-check.ts';

/** Size limit of a file of attributes, in bytes. */
export const maxAttributes = 1024 * 1024;

/** The systems on which the tests run for each change; docs/compatibility.md lists them. */
const tested: ReadonlySet<string> = new Set(['linux x64', 'win32 x64']);

/** Says on what the program runs, and whether its tests do so as well. */
export function lookAtSystem(platform: NodeJS.Platform, arch: string): Finding {
  const text = `${process.versions.node} on ${platform} ${release()}, ${arch}`;
  if (tested.has(`${platform} ${arch}`)) return { what: 'Node.js', state: 'good', text };
  const more = 'expected to work, but the tests do not run on this system';
  return { what: 'Node.js', state: 'note', text: `${text}: ${more}` };
}

/**
 * Checks everything that can keep the memory of a project from working.
 *
 * @param program the command for git's merge driver.
 */
export async function checkHealth(
  app: App,
  session: Session,
  place: Omit<RootInput, 'clientRoots'>,
  program: readonly string[],
  options: CallOptions,
): Promise<Finding[]> {
  const node = lookAtSystem(process.platform, process.arch);
  let root = '';
  const project = await attempt('Project', async () => {
    const found = await findRoot({ ...place, clientRoots: async () => [] });
    root = found.path;
    return [{ what: 'Project', state: 'good', text: `${found.path} (${found.source})` }];
  });
  if (root === '') return [node, ...project];
  // First, because opening the memory cleans up after a dead process.
  const folder = await findFolder(app, session, root, options);
  const records = await attempt('Records', () => lookAtRecords(app, session, options));
  return [
    node,
    ...project,
    ...(await attempt('Repository', () => checkRepository(dirname(folder), place.env, program))),
    ...(await attempt('Placement', () => lookAtPlacement(root))),
    ...(await attempt('Settings', () => lookAtSettings(app, session, options))),
    ...(await attempt('Layout', () => lookAtLayout(app, session, options))),
    ...(await attempt('Sync', () => lookAtSync(app, session, options))),
    ...(await attempt('Memories', () => lookAtMemories(app, session, options))),
    ...(await attempt('Attributes', async () => lookAtAttributes(app, session, folder, options))),
    ...records,
    ...(await attempt('Check', () => lookAtContent(app, session, options))),
    ...(await attempt('Commits', () => lookAtCommits(app, session, options))),
    ...(await attempt('Rule files', () => lookAtRules(app, session, options))),
  ];
}

async function attempt(what: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return [{ what, state: 'bad', text: error.text }];
  }
}

/** Returns the memory folder; the usual one if the memory cannot be opened, which another check reports. */
async function findFolder(
  app: App,
  session: Session,
  root: string,
  options: CallOptions,
): Promise<string> {
  try {
    return await app.run(session, 'doctor', options, async ({ project }) => {
      return (await project.info()).folder;
    });
  } catch (error) {
    if (error instanceof MemoryError) return join(root, memoryFolderName);
    throw error;
  }
}

/** Says where the memory is, if that is not on the branches of the project. */
async function lookAtPlacement(root: string): Promise<Finding[]> {
  const place = await describePlace(root);
  return place.isApart ? [{ what: 'Placement', state: 'good', text: place.text }] : [];
}

/** Checks the settings, which a write needs and a read does not. */
async function lookAtSettings(
  app: App,
  session: Session,
  options: CallOptions,
): Promise<Finding[]> {
  return app.run(session, 'doctor', options, async ({ project }): Promise<Finding[]> => {
    const what = 'Settings';
    const { initialized, readOnly } = await project.info();
    if (readOnly !== undefined) return [{ what, state: 'bad', text: readOnly }];
    if (!initialized || !(await project.lacking()).includes('config.yaml')) return [];
    const text = `${memoryFolderName}/config.yaml restricts who may write, in a format in which older programs write past it: "memory-bank init" or doctor --fix raises the format.`;
    const fix = async () => {
      await app.run(session, 'doctor', options, (context) => context.project.initialize());
      return 'raised and committed';
    };
    return [{ what, state: 'note', text, fix }];
  });
}

/** Reports entries that a merge has left in logs, where each should have a file of its own. */
async function lookAtLayout(app: App, session: Session, options: CallOptions): Promise<Finding[]> {
  return app.run(session, 'doctor', options, async ({ project }): Promise<Finding[]> => {
    const { layout, files } = await project.layout();
    if (layout === 'log' || files.length === 0) return [];
    const text = `A merge has left entries in a log that should be files: "memory-bank layout entries" or doctor --fix moves them.`;
    const fix = async () => {
      await app.run(session, 'doctor', options, (context) => context.project.changeLayout(layout));
      return 'moved and committed';
    };
    return [{ what: 'Layout', state: 'note', text, fix }];
  });
}

/** Checks that git keeps the bytes of the memory unchanged and merges it by record. */
function lookAtAttributes(
  app: App,
  session: Session,
  folder: string,
  options: CallOptions,
): Finding[] {
  if (!existsSync(join(folder, 'config.yaml'))) return [];
  const path = join(folder, '.gitattributes');
  const text =
    Enclosure.ofProject(dirname(folder)).read(path, maxAttributes)?.toString('utf8') ?? '';
  const lines = text.split(/\r?\n/);
  if (['* merge=memory-bank', '-text'].every((rule) => lines.some((line) => line.includes(rule)))) {
    return [];
  }
  const fix = async () => {
    await app.run(session, 'doctor', options, ({ project }) => project.initialize());
    return 'completed and committed';
  };
  const note = `${memoryFolderName}/.gitattributes lacks rules of the memory: "memory-bank init" or doctor --fix adds them.`;
  return [{ what: 'Attributes', state: 'note', text: note, fix }];
}

async function lookAtRecords(app: App, session: Session, options: CallOptions): Promise<Finding[]> {
  const types = (await app.toolsets()).flatMap(({ records }) => records);
  return app.run(session, 'doctor', options, async ({ store }) => {
    const found: Finding[] = [];
    const paths: string[] = [];
    const notes: Finding[] = [];
    for (const type of types) {
      const { records, damaged, copies = [] } = await store.list(type);
      for (const { path } of records) paths.push(path);
      for (const { error } of damaged)
        found.push({ what: 'Records', state: 'bad', text: error.text });
      for (const copy of copies)
        notes.push({ what: 'Records', state: 'note', text: describeCopy(copy) });
    }
    if (found.length === 0) {
      found.push({
        what: 'Records',
        state: 'good',
        text: `${paths.length}, all of them can be read`,
      });
    }
    found.push(...notes, ...twinsAmong(paths));
    const { leftOut } = await store.search({ query: 'memory', limit: 1 });
    return leftOut ? [...found, describeLeftOut(leftOut)] : found;
  });
}

/** Sums up the problems of records and of what they say. */
async function lookAtContent(app: App, session: Session, options: CallOptions): Promise<Finding[]> {
  const line = await app.run(session, 'doctor', options, checkLine);
  return line ? [line] : [];
}

/** Reports the last automatic exchange with the remote, where the settings ask for it. */
async function lookAtSync(app: App, session: Session, options: CallOptions): Promise<Finding[]> {
  return app.run(session, 'doctor', options, async ({ project, store }): Promise<Finding[]> => {
    if (!(await project.site()).syncs) return [];
    const { at, problem } = await readSyncState(store.local);
    if (problem !== undefined)
      return [{ what: 'Sync', state: 'note', text: `not now: ${problem}` }];
    const text =
      at === undefined ? 'automatic, not exchanged yet' : `automatic, last exchange ${at}`;
    return [{ what: 'Sync', state: 'good', text }];
  });
}

/** Reports whether the pinned memories of other repositories can be read. */
async function lookAtMemories(
  app: App,
  session: Session,
  options: CallOptions,
): Promise<Finding[]> {
  const all = await app.run(session, 'doctor', options, ({ memories }) => memories.list());
  const what = 'Memories';
  return all.map(({ name, commit, records, problem }): Finding => {
    if (problem !== undefined) return { what, state: 'note', text: `${name}: ${problem}` };
    return { what, state: 'good', text: `${name}: ${records} records of ${commit.slice(0, 12)}` };
  });
}

/** Names the memory commits that also change other files and can still be divided. */
async function lookAtCommits(app: App, session: Session, options: CallOptions): Promise<Finding[]> {
  const tangled = await app.run(session, 'doctor', options, async ({ project, history }) => {
    const { oid } = await project.head();
    return oid === undefined ? [] : history.tangled();
  });
  return tangled.map(({ commit: { oid, subject }, outside: [path, ...others] }): Finding => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const short = oid.slice(0, 12);
    const text = `${short} "${subject}" also changes ${path}${more}: "memory-bank untangle ${short}" divides it.`;
    return { what: 'Commits', state: 'note', text };
  });
}

/** Names the records that some file systems do not tell apart; a merge by git can bring both. */
function twinsAmong(paths: readonly string[]): Finding[] {
  const folded = new FoldedPaths(paths);
  return paths.flatMap((path): Finding[] => {
    const twins = folded.twinsOf(path);
    if (twins.length === 0 || twins.some((twin) => twin < path)) return [];
    const text = `${[path, ...twins].join(' and ')} differ ${foldedDifference}`;
    return [{ what: 'Records', state: 'note', text }];
  });
}

/** Names the records that a search by words does not find, and how they are found. */
function describeLeftOut({ records, paths }: LeftOut): Finding {
  const files = records === 1 ? '1 file is' : `${records} files are`;
  const named = `${paths.join(', ')}${records > paths.length ? ', …' : ''}`;
  const text = `${files} larger than the index takes, or more than it takes (docs/limits.md): ${named}. "memory-bank search --exact" reads them; divide them to find them by words.`;
  return { what: 'Search', state: 'note', text };
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
