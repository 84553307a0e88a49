import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** An environment in which native git neither reads the machine's configuration nor asks anything. */
export const gitEnv: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** A repository made by native git in a temporary folder, for tests to serve. */
export class Repo {
  readonly root: string;

  constructor(root: string = mkdtempSync(join(tmpdir(), 'memory-bank-'))) {
    this.root = root;
  }

  /** A new repository on branch main with an identity and one commit. */
  static create(...initOptions: string[]): Repo {
    return new Repo().begin(...initOptions);
  }

  /** An empty folder that is not there yet. */
  static in(root: string): Repo {
    mkdirSync(root);
    return new Repo(root);
  }

  /** Makes it a repository on branch main with an identity and one commit. */
  begin(...initOptions: string[]): this {
    this.git('init', '-q', '-b', 'main', ...initOptions);
    this.git('config', 'user.name', 'Ada Lovelace');
    this.git('config', 'user.email', 'ada@example.org');
    this.write('README.md', '# A project\n');
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

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** Checks out a branch; one that does not exist is made from where HEAD is. */
  checkout(branch: string): void {
    const known = this.git('branch', '--list', branch) !== '';
    this.git('checkout', '-q', ...(known ? [branch] : ['-b', branch]));
  }

  /** What `git fsck` has to complain of; dangling objects are no complaint. */
  fsck(): string {
    return this.git('fsck', '--full', '--strict', '--no-dangling', '--no-progress').trim();
  }

  status(): string[] {
    return this.git('status', '--porcelain=v1', '-uall').split('\n').filter(Boolean);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
