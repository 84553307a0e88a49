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

/** Makes the memory of a bank; undefined where the bank is missing. */
export function memoryOf(bank: string): Repo | undefined {
  const repo = project();
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
  return { run, answer, write, close: () => app.close() };
}
