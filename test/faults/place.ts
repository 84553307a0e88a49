import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { isDead, parseToken } from '../../src/git/locks/token.ts';
import { openWorkspace } from '../../src/store/session/open-workspace.ts';
import { letter, note } from '../support/note.ts';
import { Opened } from '../support/open.ts';
import { gitEnv, hasTables } from '../support/repo.ts';

/** Makes a folder for a fault repository: in memory if possible, because there are thousands. */
export function temporaryFolder(): string {
  const base = process.env.TEST_FAST_FOLDER ?? tmpdir();
  return fs.realpathSync(fs.mkdtempSync(join(base, 'memory-bank-faults-')));
}

/** The setting with which git works in repositories of other users. */
export const trusting = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
};

/** Serves a memory over this disk with a fixed clock: equal calls make equal commits. */
export async function serve(
  root: string,
  files: Files = new NodeFiles(),
  warn: (message: string) => void = () => undefined,
  ground: { readonly lockTimeout?: number; readonly calm?: number } = {},
): Promise<Opened> {
  const workspace = await openWorkspace(
    {
      root,
      folder: join(root, '.memory-bank'),
      repository: 'enclosing',
      records: [note, letter],
      durability: 'full',
      now: () => new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
      warn,
    },
    {
      files,
      env: { ...gitEnv, ...trusting },
      lockTimeout: 500,
      // The smallest mark that identifies the index as ours.
      calm: 1,
      uuid: () => '5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01',
      ...ground,
    },
  );
  return new Opened(workspace);
}

/** A copy of a prepared repository; a linked work tree in it belongs to the copy. */
export function copy(template: string, to: string): void {
  fs.cpSync(template, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  const worktrees = join(to, '.git', 'worktrees');
  for (const name of fs.existsSync(worktrees) ? fs.readdirSync(worktrees) : []) {
    fs.writeFileSync(join(to, name, '.git'), `gitdir: ${join(worktrees, name)}\n`);
    fs.writeFileSync(join(worktrees, name, 'gitdir'), `${join(to, name, '.git')}\n`);
  }
}

/** The change that makes a token that of a dead process: only Linux reports when a process started. */
const dead = process.platform === 'linux' ? { start: '1' } : { pid: 2 ** 22 + 1 };

/**
 * Makes the locks of this process look like those of a dead one, because its death is simulated.
 *
 * @param reboot whether the machine rebooted as well.
 */
export function bury(root: string, reboot = false): void {
  const folder = join(root, '.git', 'memory-bank');
  const options = { recursive: true, encoding: 'utf8' } as const;
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder, options) : []) {
    // Without hard links, a name that is taken is a folder with the token of its holder.
    if (!/^(?:owner-[^/]*|lock|break-[^/]*|.*[\\/]holder)$/.test(name)) continue;
    if (fs.statSync(join(folder, name)).isDirectory()) continue;
    const text = fs.readFileSync(join(folder, name), 'utf8');
    if (!text.endsWith('}\n')) continue;
    const token = { ...JSON.parse(text), ...dead };
    // Without a boot id, as on Windows, the time since the start of the system shows a restart.
    if (reboot && 'uptime' in token) token.uptime = Number.MAX_SAFE_INTEGER;
    else if (reboot) token.boot = 'an earlier boot';
    // In place: the lock is a second link to the same file.
    fs.writeFileSync(join(folder, name), `${JSON.stringify(token)}\n`);
  }
}

/** Everything that a user could notice about a repository, as text. */
export type Look = { readonly [what: string]: string };

/** Takes a snapshot of a repository and the served work tree with native git. */
export function look(root: string, folder = '.'): Look {
  const seen: { [what: string]: string } = { files: files(root).join('\n') };
  if (!fs.existsSync(join(root, '.git', 'HEAD'))) return seen;
  const tops = [...new Set(['.', folder])];
  const commands: Command[] = [
    { top: '.', args: ['for-each-ref', '--format=%(objectname) %(refname)'] },
    { top: '.', args: fsck },
  ];
  for (const top of tops) {
    commands.push(
      { top, args: ['rev-parse', '--absolute-git-dir', 'HEAD', 'HEAD^@'] },
      { top, args: ['ls-files', '-s', '-t'] },
      { top, args: ['status', '--porcelain=v1', '-uall', '--no-renames'] },
    );
  }
  const [refs = '', complaint = '', ...rest] = outputs(root, commands);
  seen.refs = refs;
  seen.fsck = complaint.replace(/^notice: .*\n/gm, '');
  for (const [i, top] of tops.entries()) {
    const [about = '', index = '', status = ''] = rest.slice(i * 3);
    const [gitDir = '', ...commits] = about.split('\n');
    seen[`HEAD of ${top}`] = hasTables
      ? outputs(root, [{ top, args: ['symbolic-ref', '-q', 'HEAD'] }]).join()
      : text(join(gitDir, 'HEAD'));
    seen[`log of HEAD of ${top}`] = logOf(root, top, gitDir, 'HEAD');
    seen[`index of ${top}`] = index;
    seen[`status of ${top}`] = status;
    // On an unborn branch git prints an error instead of them.
    seen[`commit of ${top}`] = commits.filter((line) => /^[0-9a-f]{40,64}$/.test(line)).join(' ');
  }
  for (const line of refs.split('\n').filter(Boolean)) {
    const ref = line.slice(line.indexOf(' ') + 1);
    seen[`log of ${ref}`] = logOf(root, '.', join(root, '.git'), ref);
  }
  return seen;
}

/** The reflog of a ref, as it is in its file or as git reads it from tables. */
function logOf(root: string, top: string, gitDir: string, ref: string): string {
  if (!hasTables) return text(join(gitDir, 'logs', ref));
  const args = ['log', '-g', '--format=%H %gn <%ge> %gd %gs', '--date=raw', ref, '--'];
  return outputs(root, [{ top, args }]).join();
}

// Files that we never write are omitted: each would need a process of its own.
const fsck = [
  ...['-c', 'core.commitGraph=false', '-c', 'core.multiPackIndex=false'],
  ...['fsck', '--full', '--strict', '--no-dangling', '--no-progress'],
];

/** A command of git in a folder below the root. */
interface Command {
  readonly top: string;
  readonly args: readonly string[];
}

/** Runs commands, and returns the output and the errors of each. */
function outputs(root: string, commands: readonly Command[]): string[] {
  const env = { ...gitEnv, GIT_OPTIONAL_LOCKS: '0' };
  const options = { cwd: root, env, encoding: 'utf8', maxBuffer: 1 << 26 } as const;
  const inFolder = commands.map(({ top, args }) => ['-C', top, ...args]);
  if (process.platform === 'win32') {
    return inFolder.map((args) => {
      const { stdout, stderr } = spawnSync('git', args, options);
      return stderr + stdout;
    });
  }
  // One shell for all commands, because starting programs takes most of the time.
  const lines = inFolder.map((args) => `git ${args.map((one) => `'${one}'`).join(' ')}`);
  const script = `exec 2>&1; ${lines.join("; printf '\\001'; ")}; true`;
  return execFileSync('sh', ['-c', script], options).split('\x01');
}

/** Lists the differences between two snapshots. */
export function difference(expected: Look, found: Look): string {
  // A repository without a commit counts as none.
  const fresh = expected.refs === undefined && found.refs === '' && found.fsck === '';
  if (fresh) return difference(expected, { files: found.files ?? '' });
  const parts: string[] = [];
  for (const what of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    // An empty reflog counts as none.
    const [a = '', b = ''] = [expected[what], found[what]];
    if (a !== b) parts.push(`${what}:\n--- expected\n${a}\n--- found\n${b}`);
  }
  return parts.join('\n');
}

/** The files that can be built again. */
const cache = String.raw`state\.json|history-\w+\.jsonl|(?:brief|common|recent|records)-[\w-]+\.index`;
const draft = new RegExp(String.raw`/memory-bank/(${cache})\.\w+\.tmp$`);
const other = new RegExp(
  String.raw`\.lock$|\.tmp$|(^|/)\.git/memory-bank/(?!(${cache}|index-mark(?:-[^/]+)?)$)`,
);

/** Lists locks, journals and temporary files that were left behind; not those of live processes. */
export function litter(root: string, objects = true): string[] {
  const found = fs.readdirSync(root, { recursive: true, encoding: 'utf8' });
  return found
    .map((path) => path.split(sep).join('/'))
    .filter((path) => {
      if (/(^|\/)tmp_obj_/.test(path)) return objects;
      if (isAtRest(root, path)) {
        const owner = path.replace(/\/(?:journal|turn)-/, '/owner-').replace(/\/holder$/, '');
        return !isAlive(text(join(root, owner)));
      }
      return other.test(path);
    });
}

/**
 * Whether it is the temporary file of a cache. It stays when its writer is killed; a later writer of the
 * same cache removes it when it is an hour old.
 */
export function isDraftOfCache(path: string): boolean {
  return draft.test(path);
}

/** Whether an idle server has such a file: it identifies the server and blocks nothing. */
export function isAtRest(root: string, path: string): boolean {
  if (/\/memory-bank\/(?:owner|turn)-[^/]*(?:\/holder)?$/.test(path)) return true;
  return /\/memory-bank\/journal-[^/]*$/.test(path) && fs.statSync(join(root, path)).size === 0;
}

function isAlive(owner: string): boolean {
  const token = parseToken(owner);
  return token !== undefined && !isDead(token, true);
}

function files(root: string, folder = ''): string[] {
  return fs
    .readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.name === '.git') return [];
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return [`${path}/`, ...files(root, path)];
      const bytes = fs.readFileSync(join(root, path));
      const mode = fs.statSync(join(root, path)).mode & 0o111 ? ' x' : '';
      return [`${path} ${createHash('sha1').update(bytes).digest('hex').slice(0, 12)}${mode}`];
    });
}

function text(path: string): string {
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '';
}
