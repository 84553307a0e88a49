import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryError } from '../core/error.ts';
import { errno } from './files.ts';
import { isOid, type Oid } from './object.ts';
import { isTaken, type Push, type Remote } from './remote.ts';

/** What is kept of what the program says, in characters. */
const maxOutput = 64 * 1024;

/**
 * Settings that keep git from running anything but itself and ssh, and from tidying up meanwhile. What
 * it stores is on the medium when it ends.
 */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'core.fsync=all',
  'gc.auto=0',
  'maintenance.auto=false',
];

/** The same for the other side of a folder of this machine, whose own configuration would count. */
const receivePack = [...settings, 'receive.autogc=false', 'receive.denyCurrentBranch=refuse']
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** What a run of the program came to. */
interface Outcome {
  readonly status: number | null;
  readonly output: string;
  readonly complaint: string;
}

/**
 * A remote that the installed git speaks with: over SSH, or in a folder of this machine.
 *
 * It works in a git directory of its own, with the objects of the repository: so it reads neither the
 * repository's configuration nor the user's, and touches no ref and no index.
 */
export class ProgramRemote implements Remote {
  readonly #url: string;
  readonly #local: boolean;
  readonly #commonDir: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    { url, local }: { readonly url: string; readonly local: boolean },
    commonDir: string,
    env: NodeJS.ProcessEnv,
  ) {
    this.#url = url;
    this.#local = local;
    this.#commonDir = commonDir;
    this.#env = env;
  }

  fetch(ref: string, known: readonly Oid[], signal: AbortSignal): Promise<Oid | undefined> {
    return this.#inGitDirectory(known, async (gitDir) => {
      const options = ['--quiet', '--no-tags', '--no-recurse-submodules'];
      const args = ['fetch', ...options, '--', this.#url, `+${ref}:refs/heads/fetched`];
      const { status, complaint } = await this.#run(gitDir, args, signal);
      if (status !== 0) {
        if (/couldn't find remote ref/.test(complaint)) return undefined;
        throw this.#failure(complaint);
      }
      const tip = readFileSync(join(gitDir, 'refs/heads/fetched'), 'latin1').trim();
      return isOid(tip) ? tip : undefined;
    });
  }

  push({ ref, from, to }: Push, signal: AbortSignal): Promise<boolean> {
    return this.#inGitDirectory(from === undefined ? [] : [from], async (gitDir) => {
      const pack = this.#local ? [`--receive-pack=git ${receivePack} receive-pack`] : [];
      const args = ['push', '--porcelain', '--no-verify', ...pack, '--', this.#url, `${to}:${ref}`];
      const { status, output, complaint } = await this.#run(gitDir, args, signal);
      const [, refusal] = /^!\t\S+\t\[[a-z ]+\] \(?(.*?)\)?$/m.exec(output) ?? [];
      if (status !== 0 && refusal === undefined) throw this.#failure(complaint);
      const messages = (complaint.match(/^remote: .*/gm) ?? []).join(' ');
      return isTaken(this.#url, { refusal, messages });
    });
  }

  /** @param known commits that are named to the other side as being here. */
  async #inGitDirectory<T>(
    known: readonly Oid[],
    work: (gitDir: string) => Promise<T>,
  ): Promise<T> {
    const gitDir = mkdtempSync(join(tmpdir(), 'memory-bank-sync-'));
    try {
      mkdirSync(join(gitDir, 'objects'));
      mkdirSync(join(gitDir, 'refs/heads'), { recursive: true });
      writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
      writeFileSync(
        join(gitDir, 'config'),
        '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
      );
      for (const [i, oid] of known.entries()) {
        writeFileSync(join(gitDir, `refs/heads/known-${i}`), `${oid}\n`);
      }
      const shallow = readIfThere(join(this.#commonDir, 'shallow'));
      if (shallow) writeFileSync(join(gitDir, 'shallow'), shallow);
      return await work(gitDir);
    } finally {
      rmSync(gitDir, { recursive: true, force: true });
    }
  }

  #run(gitDir: string, args: readonly string[], signal: AbortSignal): Promise<Outcome> {
    const all = [...settings.flatMap((setting) => ['-c', setting]), ...args];
    return new Promise((resolve, reject) => {
      const child = spawn('git', all, {
        cwd: gitDir,
        env: this.#environment(gitDir),
        stdio: ['ignore', 'pipe', 'pipe'],
        signal,
      });
      const texts = { output: '', complaint: '' };
      for (const [name, stream] of [
        ['output', child.stdout],
        ['complaint', child.stderr],
      ] as const) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          texts[name] = (texts[name] + text).slice(0, maxOutput);
        });
      }
      child.on('error', (error) => reject(errno(error) === 'ENOENT' ? noProgram() : error));
      child.on('close', (status) => resolve({ status, ...texts }));
    });
  }

  #environment(gitDir: string): NodeJS.ProcessEnv {
    const own = Object.entries(this.#env).filter(([name]) => !/^(?:GIT_|SSH_ASKPASS)/.test(name));
    const { GIT_SSH_COMMAND = 'ssh -o BatchMode=yes -o ConnectTimeout=30' } = this.#env;
    return {
      ...Object.fromEntries(own),
      GIT_DIR: gitDir,
      GIT_OBJECT_DIRECTORY: join(this.#commonDir, 'objects'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: devNull,
      GIT_ALLOW_PROTOCOL: this.#local ? 'file' : 'ssh',
      GIT_SSH_COMMAND,
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
    };
  }

  #failure(complaint: string): MemoryError {
    const reason = complaint
      .replace(/^(?:fatal|error|warning): /gm, '')
      .replace(/\s+/g, ' ')
      .trim();
    return new MemoryError('remote', `${this.#url} cannot be used: ${reason.slice(0, 500)}`, {
      hint: this.#local
        ? 'Nothing was changed.'
        : 'Nothing was changed. Keys come from ssh-agent and ~/.ssh; another ssh is named by GIT_SSH_COMMAND, never by the configuration of the repository.',
    });
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (errno(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function noProgram(): MemoryError {
  return new MemoryError(
    'unsupported',
    'This remote needs the git program, which is not installed.',
    {
      hint: 'Install git, or use an https:// remote.',
    },
  );
}
