import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HookEvent, readEvent } from '../../src/app/hook/client-event.ts';
import { answerHook } from '../../src/app/hook/hook-answer.ts';
import { contextMemory } from '../../src/app/hook/hook-memory.ts';
import type { Context } from '../../src/core/declarations/context.ts';
import { corpus } from '../support/corpus.ts';
import { projectApp } from '../support/project-app.ts';
import type { Repo } from '../support/repo.ts';
import { longRecords } from './long-records.ts';
import { addFiles, project } from './project.ts';

const generated = 'generated';
/** Number of the records of the generated memory. */
export const records = 5_000;

/** Has a clone of each public repository as `<owner>+<name>`. */
const option = process.argv.indexOf('--repositories');
const clones = option < 0 ? '' : (process.argv[option + 1] ?? '');
/** A folder of a repository at a commit. */
const inRepository = /^(.+)@([0-9a-f]{40}):(.+)$/;
/** The texts of a project that are not records. */
const document = /\.(?:md|mdx|rst|adoc|txt)$|(?:^|\/)(?:package\.json|pyproject\.toml)$/i;

/** The records in a folder of a repository, with the documents of its project. */
function* filesOfClone(
  clone: string,
  commit: string,
  folder: string,
): Generator<[path: string, text: string]> {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', clone, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
  for (const path of git('ls-tree', '-r', '--name-only', '-z', commit).split('\0')) {
    const isRecord = path.startsWith(`${folder}/`);
    if (isRecord ? !path.endsWith('.md') : !document.test(path)) continue;
    const text = git('show', `${commit}:${path}`);
    yield [isRecord ? `.memory-bank/${path.slice(folder.length + 1)}` : path, text];
  }
}

/** Makes the memory of a bank; undefined where the bank is missing. */
export function memoryOf(bank: string): Repo | undefined {
  const repo = project();
  const [, name = '', commit = '', folder = ''] = inRepository.exec(bank) ?? [];
  if (commit !== '') {
    const clone = join(clones, name.replace('/', '+'));
    if (clones === '' || !existsSync(clone)) return undefined;
    addFiles(repo, 'packed', filesOfClone(clone, commit, folder));
    return repo;
  }
  if (bank === generated) {
    addFiles(repo, 'packed', longRecords(records));
    return repo;
  }
  const from = corpus === undefined ? undefined : join(corpus, bank);
  if (from === undefined || !existsSync(from)) return undefined;
  const names = readdirSync(from, { encoding: 'utf8', recursive: true });
  const files = names
    .filter((name) => name.endsWith('.md'))
    .map((name): [string, string] => [
      `.memory-bank/${name}`,
      readFileSync(join(from, name), 'utf8'),
    ]);
  addFiles(repo, 'packed', files);
  return repo;
}

/** The hooks of a memory, each in a new session. */
export function hookOf(repo: Repo) {
  const app = projectApp(repo.root);
  const session = app.connect();
  const run = <T>(work: (context: Context) => Promise<T>) => app.run(session, 'hook', {}, work);
  /** Learns the words of the documents, as a process does that stores a digest. */
  const learn = () => run(async (context) => context.store.states.saveIndex());
  const answer = async (event: HookEvent, name: string, fields: object): Promise<string> => {
    const input = JSON.stringify({ hook_event_name: name, cwd: repo.root, ...fields });
    const read = readEvent(event, input);
    if (!read) throw new Error('The input is not a hook event.');
    const found = await run(async (context) => answerHook(await contextMemory(context), read));
    return JSON.parse(JSON.stringify(found ?? null))?.hookSpecificOutput.additionalContext ?? '';
  };
  const write = async (entry: object): Promise<void> => {
    const written = await app.call(session, 'memory_write', entry);
    if (written?.error) throw new Error(`The entry was not written: ${written.error}`);
  };
  return { run, learn, answer, write, close: () => app.close() };
}
