import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { objectFormats, sha1 } from '../../src/git/objects/object-format.ts';
import { firstGit, type GitVersion, isAtLeast } from '../../src/git/repository/git-version.ts';
import { entrySettings, hasEntries, readLog, writeLog } from './test-layout.ts';

/**
 * The format of the objects of new repositories: that of git's own variable, so that all suites run in each
 * format.
 */
export const objectFormat = objectFormats.get(process.env.GIT_DEFAULT_HASH ?? '') ?? sha1;

/** Whether new repositories keep their refs in tables, by git's own variable, which git knows from 2.45 on. */
export const hasTables = process.env.GIT_DEFAULT_REF_FORMAT === 'reftable';

let version: GitVersion | undefined;

/** Whether the git of this machine is of a version or a later one. */
export function hasGit(wanted: GitVersion): boolean {
  if (version === undefined) {
    const text = execFileSync('git', ['--version'], { encoding: 'utf8' });
    const [major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) ?? [];
    version = [major, minor];
  }
  return isAtLeast(version, wanted);
}

/** Whether the git of this machine knows refs in tables. */
export function knowsTables(): boolean {
  return hasGit(firstGit.tables);
}

/** Environment in which native git reads no configuration of the machine and never prompts. */
export const gitEnv: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_DEFAULT_HASH: objectFormat.name,
  GIT_DEFAULT_REF_FORMAT: process.env.GIT_DEFAULT_REF_FORMAT,
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** A repository in a temporary folder, made by native git. */
export class Repo {
  /** A new repository, which others are copied from. */
  static #model: Repo | undefined;

  readonly root: string;

  constructor(root: string = mkdtempSync(join(tmpdir(), 'memory-bank-'))) {
    this.root = root;
  }

  /** Makes a repository on branch main with an identity and one commit. */
  static create(...initOptions: string[]): Repo {
    if (initOptions.length > 0) return new Repo().begin(...initOptions);
    // A copy takes one process of git where a new repository takes five.
    Repo.#model ??= new Repo().begin();
    const repo = new Repo();
    cpSync(Repo.#model.root, repo.root, { recursive: true });
    repo.git('update-index', '-q', '--refresh');
    return repo;
  }

  /** Makes an empty folder at a path. */
  static in(root: string): Repo {
    mkdirSync(root);
    return new Repo(root);
  }

  /** Makes the folder a repository on branch main with an identity and one commit. */
  begin(...initOptions: string[]): this {
    this.git('init', '-q', '-b', 'main', ...initOptions);
    this.git('config', 'user.name', 'Ada Lovelace');
    this.git('config', 'user.email', 'ada@example.org');
    this.write('README.md', '# A project\n');
    if (hasEntries) for (const file of entrySettings()) this.write(...file);
    this.git('add', '.');
    this.git('commit', '-q', '-m', 'Begin');
    return this;
  }

  git(...args: string[]): string {
    return this.gitWith({}, ...args);
  }

  gitWith(
    options: { input?: string | Buffer; cwd?: string; env?: NodeJS.ProcessEnv },
    ...args: string[]
  ): string {
    return execFileSync('git', args, {
      cwd: options.cwd ?? this.root,
      env: { ...gitEnv, ...options.env },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      ...(options.input === undefined ? {} : { input: options.input }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Commits everything, and returns the id of the commit. */
  commitAll(message: string): string {
    this.git('add', '-A');
    this.git('commit', '-q', '-m', message);
    return this.git('rev-parse', 'HEAD').trim();
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string | Buffer): void {
    if (typeof text === 'string' && writeLog(this.root, name, text)) return;
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  read(name: string): string {
    return readLog(this.root, name) ?? readFileSync(this.path(name), 'utf8');
  }

  /** Checks out a branch, and creates it at HEAD if it does not exist. */
  checkout(branch: string): void {
    const known = this.git('branch', '--list', branch) !== '';
    this.git('checkout', '-q', ...(known ? [branch] : ['-b', branch]));
  }

  /** Returns the errors of `git fsck`, without dangling objects. */
  fsck(): string {
    return this.git('fsck', '--full', '--strict', '--no-dangling', '--no-progress').trim();
  }

  status(): string[] {
    return this.git('status', '--porcelain=v1', '-uall').split('\n').filter(Boolean);
  }

  /** Removes a file that may be open: on Windows it would keep its name until it is closed. */
  takeAway(name: string): void {
    if (!existsSync(this.path(name))) return;
    const away = join(tmpdir(), `away-${randomUUID()}`);
    renameSync(this.path(name), away);
    rmSync(away);
  }

  remove(): void {
    try {
      rmSync(this.root, { recursive: true, force: true });
    } catch (error) {
      // There, a file that is open stays with its folder.
      if (process.platform !== 'win32') throw error;
    }
  }
}
