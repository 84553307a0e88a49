import { readlinkSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Files } from '../disk/file-layer.ts';
import { monotonicTime } from '../locks/lock.ts';
import { type ProcessState, processText, stateOf } from '../locks/process-state.ts';
import type { GitConfig } from './config.ts';
import { findWorkTree, type WorkTree } from './discover.ts';
import { ProcessTable } from './process-table.ts';

/** A running git program that changes HEAD or the index. */
export interface GitProcess {
  readonly pid: number;
  /** For people: `git commit`. */
  readonly name: string;
  /** The subcommand: `commit`, also where an alias names it. */
  readonly command: string;
  /** Whether it fails if HEAD moves meanwhile; otherwise it changes the index only. */
  readonly movesHead: boolean;
  /** Differs for a later process with the same pid. */
  readonly id: string;
  /** When it started, in milliseconds since the epoch, to about 20 of them. */
  readonly started: number;
}

/** The git process whose hook runs this process. */
interface GitStarter {
  readonly git: GitProcess;
  /** The name of the hook, if git moves HEAD only after it. */
  readonly hook: string | undefined;
}

/** The hooks that run between git's look at HEAD and its move of HEAD. */
const earlyHooks = new Set([
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'pre-merge-commit',
  'applypatch-msg',
  'pre-applypatch',
]);
/** Commands that read HEAD at their start, and end in a commit on top of it. */
const movesHead = new Set('commit merge pull rebase cherry-pick revert am'.split(' '));
/** Commands that fail at once if the index is locked. */
const locksIndex = new Set(
  'add stage rm mv reset checkout switch restore stash apply read-tree update-index'.split(' '),
);
/** Options before the command that have a value of their own. */
const valued = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env']);
/** Ticks of the system's clock in a second: the same on all architectures. */
const ticks = 100;
const longestChain = 64;
/** Time for which a git process of another work tree is not looked at again, in milliseconds. */
const othersPause = 20;

/**
 * Finds the git processes that are changing HEAD or the index of a work tree, from their first
 * millisecond on, also while a hook or an editor runs. Only on Linux; elsewhere it finds none.
 *
 * Processes that wait for this one are not among them: in a hook, both would wait for ever.
 */
export class GitProcesses {
  readonly #files: Files;
  readonly #isOurs: (tree: WorkTree, movesHead: boolean) => boolean;
  readonly #config: () => GitConfig;
  readonly #table = new ProcessTable();
  /** Git processes that were not among them, by pid, and when that was seen. */
  readonly #others = new Map<number, number>();
  /** The ancestors of this process, by pid. */
  #ancestors: ReadonlyMap<number, ProcessState> | undefined;
  /** Whether one of them is git. */
  #isInGit: boolean | undefined;
  /** When this process started, in ticks. */
  #start: number | undefined;

  /**
   * @param isOurs whether a process in a work tree would meet our changes.
   * @param config for the aliases of git.
   */
  constructor(
    files: Files,
    isOurs: (tree: WorkTree, movesHead: boolean) => boolean,
    config: () => GitConfig,
  ) {
    [this.#files, this.#isOurs, this.#config] = [files, isOurs, config];
  }

  /** Lists them, those that move HEAD first. */
  find(): GitProcess[] {
    const pids = this.#table.gits();
    if (pids.length === 0) return [];
    const ancestors = this.#chain();
    const now = monotonicTime();
    for (const [pid, since] of this.#others)
      if (now - since > othersPause) this.#others.delete(pid);
    const found = pids.flatMap((pid) => {
      if (ancestors.has(pid) || this.#others.has(pid)) return [];
      const args = processText(pid, 'cmdline') ?? '';
      const git = this.#describe(pid, args.split('\0'));
      // One that has just begun does not show its arguments yet.
      if (!git && args !== '') this.#others.set(pid, now);
      return git ?? [];
    });
    return found.sort((a, b) => Number(b.movesHead) - Number(a.movesHead));
  }

  /** The git process that has started this one, as a program of one of its hooks. */
  starter(): GitStarter | undefined {
    this.#isInGit ??= [...this.#chain().keys()].some(isGit);
    if (!this.#isInGit) return undefined;
    let hook: string | undefined;
    for (const [pid, { start }] of this.#chain()) {
      if (stateOf(pid)?.start !== start) continue;
      const args = processText(pid, 'cmdline')?.split('\0') ?? [];
      // A script is an argument of its interpreter.
      hook ??= args
        .slice(0, 3)
        .map((arg) => basename(arg))
        .find((name) => earlyHooks.has(name));
      const git = isGit(pid) ? this.#describe(pid, args) : undefined;
      if (git) return { git, hook };
    }
    return undefined;
  }

  #describe(pid: number, args: readonly string[]): GitProcess | undefined {
    const state = stateOf(pid);
    if (!state?.isAlive) return undefined;
    const trees = this.#treesOf(pid, args);
    // Before the command: the aliases of another repository are not known.
    if (!trees.some((tree) => this.#isOurs(tree, true))) return undefined;
    const command = this.#commandOf(args);
    const doesMove = command !== undefined && movesHead.has(command);
    if (command === undefined || !(doesMove || locksIndex.has(command))) return undefined;
    if (!trees.some((tree) => this.#isOurs(tree, doesMove))) return undefined;
    this.#start ??= Number(stateOf(process.pid)?.start);
    // By the clock of this process: a container can show another time since boot.
    const age = ((this.#start - Number(state.start)) * 1000) / ticks + 1000 * process.uptime();
    const id = `${pid} ${state.start}`;
    const name = `git ${command}`;
    return { pid, name, command, movesHead: doesMove, id, started: Date.now() - age };
  }

  /** The command in the arguments of a git process; undefined for none, or for one that starts another program. */
  #commandOf(args: readonly string[]): string | undefined {
    // A script that is named git, and starts the real one, is an argument of its interpreter.
    const [program = '', ...rest] = /^git/.test(basename(args[0] ?? '')) ? args : args.slice(1);
    if (/^git-./.test(basename(program))) return basename(program).slice(4);
    const at = rest.findIndex((arg, i) => !arg.startsWith('-') && !valued.has(rest[i - 1] ?? ''));
    const word = rest[at];
    if (word === undefined || movesHead.has(word) || locksIndex.has(word)) return word;
    // Git allows an alias of an alias.
    const seen = new Set<string>();
    let name = word;
    for (;;) {
      const alias = seen.has(name) ? undefined : this.#config().get(`alias.${name}`);
      const [first] = alias?.trim().split(/\s+/) ?? [];
      if (first === undefined) return name;
      if (first.startsWith('!')) return undefined;
      seen.add(name);
      name = first;
    }
  }

  /** The work trees in which a process may be: it goes to the top of its own soon after its start. */
  #treesOf(pid: number, [, ...args]: readonly string[]): WorkTree[] {
    const folder = folderOf(pid);
    if (folder === undefined) return [];
    const given = (name: string) =>
      args.flatMap((arg, i) => {
        if (arg === name) return args[i + 1] ?? [];
        return arg.startsWith(`${name}=`) ? arg.slice(name.length + 1) : [];
      });
    const goes = given('-C').reduce((from, to) => resolve(from, to), folder);
    const environ = processText(pid, 'environ')?.split('\0') ?? [];
    const gitDir = environ.find((line) => line.startsWith('GIT_DIR='))?.slice('GIT_DIR='.length);
    const folders = [...new Set([folder, goes])];
    const named = given('--git-dir').at(-1) ?? gitDir;
    if (named === undefined) return folders.flatMap((one) => this.#treeAt(one) ?? []);
    return folders.flatMap((one) => {
      const real = this.#files.realpath(resolve(one, named));
      return real === undefined ? [] : { top: one, gitDir: real, commonDir: real };
    });
  }

  #treeAt(folder: string): WorkTree | undefined {
    try {
      return findWorkTree(this.#files, folder);
    } catch {
      // Not a place where this program could write either.
      return undefined;
    }
  }

  #chain(): ReadonlyMap<number, ProcessState> {
    if (this.#ancestors) return this.#ancestors;
    const chain = new Map<number, ProcessState>();
    for (let pid = process.ppid; pid > 1 && chain.size < longestChain; ) {
      const state = stateOf(pid);
      if (!state) break;
      chain.set(pid, state);
      pid = state.parent;
    }
    this.#ancestors = chain;
    return chain;
  }
}

function isGit(pid: number): boolean {
  return processText(pid, 'comm')?.startsWith('git') ?? false;
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
