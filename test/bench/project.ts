import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { gitEnv, Repo } from '../support/repo.ts';

/** Storage of the objects of a repository. */
export type Form = 'packed' | 'loose';

/** Makes a repository for a measurement, perhaps with options of `git init`. */
export function project(...options: string[]): Repo {
  const repo = Repo.create(...options);
  // An automatic gc would slow down one side only.
  repo.git('config', 'gc.auto', '0');
  return repo;
}

/** Makes a number of project files, a hundred in each folder. */
export function* sources(count: number): Generator<[path: string, text: string]> {
  for (let i = 0; i < count; i++) {
    const folder = `src/part-${Math.floor(i / 10_000)}/area-${Math.floor(i / 100) % 100}`;
    yield [`${folder}/file-${i}.ts`, `export const value${i} = ${i};\n`.repeat(8)];
  }
}

/** Commits files with native git and checks them out. */
export function addFiles(repo: Repo, form: Form, files: Iterable<[path: string, text: string]>) {
  const lines = ['commit refs/heads/main', 'committer A <a@example.org> 1700000000 +0000'];
  lines.push('data 3', 'Add', 'from refs/heads/main^0');
  for (const [path, text] of files) {
    lines.push(`M 100644 inline ${path}`, `data ${Buffer.byteLength(text)}`, text);
  }
  const unpackLimit = `fastimport.unpackLimit=${form === 'loose' ? 10_000_000 : 1}`;
  const input = `${lines.join('\n')}\n`;
  repo.gitWith({ input }, '-c', unpackLimit, 'fast-import', '--quiet');
  repo.git('reset', '-q', '--hard');
  if (form === 'packed') repo.git('repack', '-adq');
}

/** Disk space of the objects of a repository, in bytes. */
export function diskUse(repo: Repo): number {
  const measure = (path: string): number => {
    const stat = lstatSync(path);
    if (!stat.isDirectory()) return stat.blocks * 512;
    return readdirSync(path).reduce((sum, name) => sum + measure(join(path, name)), 0);
  };
  return measure(repo.path('.git/objects'));
}

/** Writes a file and commits it with native git, through one shell that keeps running. */
export class NativeGit {
  readonly #repo: Repo;
  readonly #options: string;
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  readonly #lines: Interface;

  constructor(repo: Repo, durability: 'full' | 'relaxed') {
    this.#repo = repo;
    this.#options = durability === 'full' ? '-c core.fsync=all -c core.fsyncMethod=fsync' : '';
    this.#shell = spawn('sh', [], { cwd: repo.root, env: gitEnv });
    this.#lines = createInterface(this.#shell.stdout);
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  async commit(path: string, text: string): Promise<void> {
    mkdirSync(dirname(this.#repo.path(path)), { recursive: true });
    writeFileSync(this.#repo.path(path), text);
    const git = `git ${this.#options}`;
    this.#shell.stdin.write(
      `${git} add -- '${path}' && ${git} commit -q -m 'Change a file' -- '${path}'; echo $?\n`,
    );
    const { value } = await this.#answers.next();
    if (value !== '0') throw new Error(`native git failed: ${value}`);
  }

  close(): void {
    this.#shell.stdin.end();
    this.#lines.close();
  }
}
