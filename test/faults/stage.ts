import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FaultFiles, type Operation } from '../support/fault-files.ts';
import { note } from '../support/note.ts';
import type { Opened } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { copy, difference, type Look, litter, look, serve, temporaryFolder } from './place.ts';
import { put, type Scenario } from './scenario.ts';

/** The result of the mutations of a scenario. */
export interface Outcome {
  /** Number of acknowledged ones. */
  readonly done: number;
  /** Error of the first one that was not. */
  readonly error: unknown;
}

/** A scenario that was played without faults, with snapshots after each mutation. */
export class Stage {
  readonly scenario: Scenario;
  /** The disk operations of its mutations without faults. */
  readonly operations: readonly Operation[];
  readonly #home: string;
  /** Snapshots before the first mutation and after each. */
  readonly #looks: readonly Look[];
  /** Snapshots after some of the changes that are made at a time. */
  readonly #partly: Look[] = [];
  #copies = 0;

  private constructor(scenario: Scenario, home: string, looks: Look[], operations: Operation[]) {
    this.scenario = scenario;
    this.operations = operations;
    this.#home = home;
    this.#looks = looks;
  }

  static async set(scenario: Scenario): Promise<Stage> {
    const home = temporaryFolder();
    const repo = Repo.in(join(home, 'template'));
    await scenario.prepare(repo);
    const root = join(home, 'example');
    copy(repo.root, root);
    const looks = [look(root, scenario.folder)];
    const operations: Operation[] = [];
    const files = new FaultFiles((_, operation) => {
      operations.push(operation);
      return undefined;
    });
    const opened = await serve(join(root, scenario.folder ?? ''), files);
    for (const act of scenario.acts) {
      await act(opened);
      looks.push(look(root, scenario.folder));
    }
    await opened.workspace.close();
    rmSync(root, { recursive: true });
    const stage = new Stage(scenario, home, looks, operations);
    if (scenario.changes) await stage.#lookBetween(scenario.changes);
    return stage;
  }

  async #lookBetween(changes: Scenario['acts']): Promise<void> {
    const root = this.copy();
    const opened = await serve(root);
    for (const change of changes.slice(0, -1)) {
      await change(opened);
      this.#partly.push(this.look(root));
    }
    await opened.workspace.close();
    rmSync(root, { recursive: true });
  }

  /** Makes a copy of the state before the mutations. */
  copy(): string {
    this.#copies += 1;
    const root = join(this.#home, `copy-${this.#copies}`);
    copy(join(this.#home, 'template'), root);
    return root;
  }

  /** Takes a snapshot of a copy. */
  look(root: string): Look {
    return look(root, this.scenario.folder);
  }

  /**
   * Compares a copy with the snapshot after the acknowledged mutations, and returns the violations.
   *
   * @param maybe whether the next mutation was under way and may have happened as well.
   */
  compare(found: Look, done: number, maybe: boolean): string[] {
    const [expected, other] = this.#looks.slice(done, done + 2);
    const wrong = difference(expected ?? {}, found);
    const others = other && maybe ? [other, ...this.#partly] : [];
    if (wrong === '' || others.some((one) => difference(one, found) === '')) return [];
    return [`not as after ${done}${maybe ? ` or ${done + 1}` : ''} of its changes:\n${wrong}`];
  }

  /**
   * Opens the repository with a new server, makes one more change and returns the violations: the
   * user's work must be unchanged, the history must continue, and no temporary file may remain.
   *
   * @param earlier the snapshot before that change.
   * @param objects whether temporary objects count; git gc removes those of dead processes.
   */
  async goOn(root: string, earlier: Look, opened: Opened, objects: boolean): Promise<string[]> {
    const { folder = '.' } = this.scenario;
    try {
      await put(opened, { extra: 'more' });
    } catch (error) {
      return [`the next change fails: ${error}`];
    }
    const wrong: string[] = [];
    const later = this.look(root);
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

/** Plays mutations until one fails. */
export async function play(scenario: Scenario, opened: Opened): Promise<Outcome> {
  let done = 0;
  try {
    for (const act of scenario.acts) {
      await act(opened);
      done += 1;
    }
    return { done, error: undefined };
  } catch (error) {
    return { done, error };
  }
}
