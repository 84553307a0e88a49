import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '../../src/git/files.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { note } from '../support/note.ts';
import type { Opened } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { copy, difference, type Look, litter, look, serve, temporaryFolder } from './place.ts';
import { put, type Scenario } from './scenario.ts';

/** What one mutation came to. */
export interface Outcome {
  readonly error: unknown;
  readonly warnings: readonly string[];
}

/** A scenario that was played once without a fault: what it looks like before, and what after. */
export class Stage {
  readonly scenario: Scenario;
  /** What its mutation does to the disk when nothing fails. */
  readonly operations: readonly string[];
  readonly #home: string;
  readonly #before: Look;
  readonly #after: Look;
  #copies = 0;

  private constructor(scenario: Scenario, home: string, look: [Look, Look], operations: string[]) {
    this.scenario = scenario;
    this.operations = operations;
    this.#home = home;
    [this.#before, this.#after] = look;
  }

  static async set(scenario: Scenario): Promise<Stage> {
    const home = temporaryFolder();
    const repo = Repo.in(join(home, 'template'));
    await scenario.prepare(repo);
    const root = join(home, 'example');
    copy(repo.root, root);
    const before = look(root, scenario.folder);
    const files = new FaultFiles();
    const { error } = await play(scenario, root, files);
    if (error) throw error;
    const after = look(root, scenario.folder);
    if (difference(before, after) === '') throw new Error(`${scenario.name}: nothing happened`);
    rmSync(root, { recursive: true });
    return new Stage(scenario, home, [before, after], files.log);
  }

  /** A new copy of the state before the mutation. */
  copy(): string {
    this.#copies += 1;
    const root = join(this.#home, `copy-${this.#copies}`);
    copy(join(this.#home, 'template'), root);
    return root;
  }

  /** Plays the mutation over a faulty disk. */
  play(root: string, files: Files): Promise<Outcome> {
    return play(this.scenario, root, files);
  }

  /** What is wrong with a repository that is to look as before the mutation, as after it, or either. */
  compare(root: string, expected: 'before' | 'after' | 'either'): string[] {
    const found = look(root, this.scenario.folder);
    const before = difference(this.#before, found);
    const after = difference(this.#after, found);
    if (expected === 'before') return before === '' ? [] : [`not as before:\n${before}`];
    if (expected === 'after') return after === '' ? [] : [`not as after:\n${after}`];
    if (before === '' || after === '') return [];
    return [`neither wholly there nor wholly absent; from before:\n${before}`];
  }

  /**
   * What is wrong once a new server has opened the repository and made one more change: the person's
   * work is as it was, the history goes on from where it was, and nothing is left lying about.
   *
   * @param objects whether temporary objects count; git's own gc sweeps those of dead processes.
   */
  async goOn(root: string, opened: Opened, objects: boolean): Promise<string[]> {
    const { folder = '.' } = this.scenario;
    const earlier = look(root, folder);
    try {
      await put(opened, { extra: 'more' });
    } catch (error) {
      return [`the next change fails: ${error}`];
    }
    const wrong: string[] = [];
    const later = look(root, folder);
    const [head = ''] = (earlier[`commit of ${folder}`] ?? '').split(' ');
    const [, parent = ''] = (later[`commit of ${folder}`] ?? '').split(' ');
    if (parent !== head) wrong.push(`the next commit is on "${parent}", not on "${head}"`);
    const found = await opened.call.store.get(note, 'extra');
    if (found?.value.text !== 'more') wrong.push('the next change is not read back');
    const [was, is] = [earlier, later].map((seen) => seen[`status of ${folder}`]);
    if (was !== undefined && was !== is) wrong.push(`the person's work changed: ${was} to ${is}`);
    const left = litter(root, objects);
    if (left.length > 0) wrong.push(`left behind: ${left.join(', ')}`);
    if (later.fsck !== '') wrong.push(`git fsck: ${later.fsck}`);
    return wrong;
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}

async function play(scenario: Scenario, root: string, files: Files): Promise<Outcome> {
  const warnings: string[] = [];
  let opened: Opened | undefined;
  let failure: unknown;
  try {
    opened = await serve(join(root, scenario.folder ?? ''), files, (text) => warnings.push(text));
    await scenario.act(opened);
  } catch (error) {
    failure = error;
  }
  await opened?.workspace.close().catch(() => undefined);
  return { error: failure, warnings };
}
