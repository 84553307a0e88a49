import { join } from 'node:path';
import { counted } from '../../core/answers/painter.ts';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Repository } from '../../git/commit/repository.ts';
import { checkNowhere } from '../../git/commit/work-tree.ts';
import { Folder } from '../../git/disk/folder.ts';
import type { Oid } from '../../git/objects/object.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import {
  eachBranch,
  type MemoryPlace,
  memoryBranch,
  placeInWords,
  placeSection,
  readPlace,
} from '../../git/repository/memory-place.ts';
import { folderAt } from '../history/last-change.ts';
import { commitMessage } from '../records/message.ts';
import { SettingsFile } from '../records/settings-file.ts';
import { copyMemory, embedMemory, objectsOf } from './copied-history.ts';
import { tipOf } from './memory-branches.ts';
import { changesBetween, checkClean } from './memory-files.ts';
import { folderIn, type PlacesOptions, treeFolder } from './memory-folders.ts';
import { followRemote } from './memory-places.ts';
import {
  checkFree,
  checkReviews,
  hasMoved,
  isShallow,
  type MovedMemory,
  otherMemory,
  workTreeOf,
} from './move-checks.ts';

/** The steps of a move of a memory. */
export interface MovePlan {
  /** Where the memory is, and where it will be, in words. */
  readonly from: string;
  readonly to: string;
  /** Whether it is there already. */
  readonly isThere: boolean;
  /** The number of its files. */
  readonly files: number;
  /** The steps, one sentence each. */
  readonly steps: readonly string[];
}

/** A move of a memory, with its history, to another place. */
export interface MemoryMove {
  readonly plan: MovePlan;
  /** @throws MemoryError after which the memory is at its old place. */
  carryOut(): Promise<void>;
  close(): void;
}

/**
 * Plans the move of a memory. Only objects are stored that no branch reaches.
 *
 * @param root real path of the project.
 * @param to the new placement; undefined for the branches of the project.
 * @throws MemoryError `conflict` for changes that are not committed, `already_exists` for another memory or
 *   branch at the new place, `unsupported` outside a repository and in a shallow clone.
 */
export async function planMove(
  options: PlacesOptions,
  root: string,
  to: MemoryPlace | undefined,
): Promise<MemoryMove> {
  const mover = new Mover(options, root);
  try {
    const { plan, run } = await mover.plan(to);
    return { plan, carryOut: run, close: () => mover.close() };
  } catch (error) {
    mover.close();
    throw error;
  }
}

/** A part of a move. */
interface Part {
  readonly steps: readonly string[];
  run(): Promise<void>;
}

const nothing: Part = { steps: [], run: async () => undefined };

class Mover {
  readonly #options: PlacesOptions;
  readonly #root: string;
  readonly #project: Repository;
  /** The memory folder in the trees of the project. */
  readonly #folder: string;
  /** The repositories of the move, by the tops of their work trees. */
  readonly #open = new Map<string, Repository>();

  constructor(options: PlacesOptions, root: string) {
    [this.#options, this.#root] = [options, root];
    this.#project = this.#repositoryOf(root);
    this.#folder = folderIn(this.#project.tree, root);
  }

  close(): void {
    for (const repository of this.#open.values()) repository.close();
  }

  #repositoryOf(folder: string): Repository {
    const tree = workTreeOf(this.#options, folder);
    const repository =
      this.#open.get(tree.top) ?? new Repository(this.#options.disk, tree, this.#options);
    this.#open.set(tree.top, repository);
    return repository;
  }

  async plan(to: MemoryPlace | undefined): Promise<{ plan: MovePlan; run(): Promise<void> }> {
    const { disk } = this.#options;
    const { commonDir } = this.#project.tree;
    this.#project.checkWritable();
    const source = this.#source(readPlace(disk.files, commonDir));
    const words = { from: placeInWords(source.placement), to: placeInWords(to) };
    if (JSON.stringify(source.placement) === JSON.stringify(to)) {
      // An earlier move may have been interrupted before it removed the memory from the branch.
      const rest = to === undefined ? nothing : await this.#leaveRest(source, words.to);
      const isThere = rest.steps.length === 0;
      return { plan: { ...words, isThere, files: 0, steps: rest.steps }, run: rest.run };
    }
    for (const { tree } of [this.#project, source.repository]) {
      if (disk.files.lstat(join(tree.commonDir, 'shallow'))) throw isShallow(tree);
    }
    const folder = new Folder(disk.files, join(source.top, source.folder));
    new SettingsFile(folder).checkFormat();
    const files = checkClean(disk.files, source);
    if (source.placement?.kind === 'repository' || to?.kind === 'repository') {
      await checkReviews(source);
    }
    const memory = await this.#historyOf(source);
    const arriving = !to
      ? this.#toBranches(memory)
      : to.kind === 'own-branch'
        ? this.#toOwnBranch(memory, to.branch)
        : this.#toRepository(memory, to.folder);
    const leaving = this.#leave(source, words.to);
    const run = async () => {
      const placement = readPlace(disk.files, commonDir);
      if (JSON.stringify(placement) !== JSON.stringify(source.placement)) throw hasMoved();
      if (this.#source(placement).tip !== source.tip) throw hasMoved();
      checkClean(disk.files, source);
      await arriving.run();
      // In another order, there would be a moment in which the memory is nowhere.
      await this.#project.direct.changeConfig(placeSection(to));
      await leaving.run();
    };
    const steps = [...arriving.steps, ...leaving.steps];
    const plan = { ...words, isThere: false, files: files.length, steps };
    return { plan, run: () => this.#alone(run) };
  }

  /** Runs the steps while no server can change the memory in its old or its new place. */
  #alone(run: () => Promise<void>): Promise<void> {
    // In one order, so that two moves cannot wait for each other.
    const all = new Map([...this.#open.values()].map((one) => [one.tree.commonDir, one]));
    const inOrder = [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
    return inOrder.reduceRight<() => Promise<void>>(
      (rest, repository) => () => repository.hold(rest),
      run,
    )();
  }

  #source(placement: MemoryPlace | undefined): MovedMemory {
    const repository = this.#project;
    const folder = this.#folder;
    if (!placement) {
      const { tree } = repository;
      return { placement, repository, top: tree.top, folder, tip: repository.head().oid };
    }
    if (placement.kind === 'repository') {
      const repository = this.#repositoryOf(placement.folder);
      const { tree } = repository;
      const folder = folderIn(tree, this.#real(placement.folder));
      return { placement, repository, top: tree.top, folder, tip: repository.head().oid };
    }
    const branch = this.#branch(placement.branch);
    const top = treeFolder(repository.tree.commonDir, branch);
    return { placement, repository, top, folder, tip: tipOf(repository.refs, branch)?.oid };
  }

  /** The branch of the memory for the branch that is checked out. */
  #branch(pattern: string): string {
    const { ref } = this.#project.head();
    if (ref !== undefined || !pattern.endsWith(eachBranch)) {
      return memoryBranch(pattern, ref?.replace(/^refs\/heads\//, '') ?? '');
    }
    throw new MemoryError('unsupported', 'HEAD is detached: it has no branch of the memory.', {
      hint: 'Check out a branch: "git switch <branch>".',
    });
  }

  #real(folder: string): string {
    return this.#options.disk.files.realpath(folder) ?? folder;
  }

  /** The last commit of a history of the memory alone, in the repository of the project. */
  async #historyOf({ placement, repository, folder, tip }: MovedMemory): Promise<Oid | undefined> {
    if (tip === undefined || placement?.kind === 'own-branch') return tip;
    const copy = copyMemory(repository.odb, tip, folder, this.#folder, !placement);
    await repository.direct.store(copy.objects);
    if (copy.tip === undefined || repository === this.#project) return copy.tip;
    await this.#project.direct.store(objectsOf(repository.odb, copy.tip));
    return copy.tip;
  }

  #memoryAt(commit: Oid | undefined): Oid | undefined {
    return commit && folderAt(this.#project.odb, commit, this.#folder);
  }

  #toOwnBranch(memory: Oid | undefined, pattern: string): Part {
    const branch = this.#branch(pattern);
    const { refs } = this.#project;
    checkFree(
      refs.list('refs/heads/').map(({ ref }) => ref.slice('refs/heads/'.length)),
      branch,
    );
    const there = tipOf(refs, branch)?.oid;
    const { odb } = this.#project;
    const isBehind = (one: Oid, other: Oid) =>
      reachableCommits(odb, other, [{ name: branch, oid: one }]).size === 0;
    const isSame = this.#memoryAt(there) === this.#memoryAt(memory);
    if (there && memory && !isSame && !isBehind(there, memory)) {
      throw new MemoryError('already_exists', `The branch ${branch} has another content.`, {
        hint: `Give another name with --branch, or delete it: "git branch -D ${branch}". Nothing was changed.`,
        data: { branch },
      });
    }
    const own = isSame ? 'has this memory already' : 'gets the memory and its history';
    const steps = [
      memory === undefined ? `The first change creates ${branch}.` : `The branch ${branch} ${own}.`,
      ...(pattern.endsWith(eachBranch)
        ? ['Each other branch gets a branch of the memory when it is checked out.']
        : []),
    ];
    const top = treeFolder(this.#project.tree.commonDir, branch);
    const ref = `refs/heads/${branch}`;
    const run = async () => {
      if (tipOf(refs, branch)?.oid !== there) throw hasMoved();
      if (memory !== undefined && !isSame) {
        // One that an interrupted move has left would keep the files of an earlier commit.
        await this.#project.direct.removeWorkTree(top);
        checkNowhere(this.#options.disk.files, this.#project.tree.commonDir, ref);
        const move = { to: memory, log: 'memory-bank place', isNew: there === undefined };
        await this.#project.direct.moveRef(ref, move);
      }
      await followRemote(this.#project, branch);
    };
    return { steps, run };
  }

  #toBranches(memory: Oid | undefined): Part {
    const { odb } = this.#project;
    const head = this.#project.head().oid;
    const wanted = this.#memoryAt(memory);
    if (memory === undefined || wanted === undefined) return nothing;
    const before = this.#memoryAt(head);
    if (before === wanted) {
      return { ...nothing, steps: ['The branch that is checked out has this memory already.'] };
    }
    const { files } = this.#options.disk;
    const known =
      head === undefined ? undefined : copyMemory(odb, head, this.#folder, this.#folder, true);
    // A move that was interrupted may have brought an earlier state of the memory.
    const earlier = known?.tip === undefined ? [] : [{ name: '', oid: known.tip }];
    const isEarlier = before !== undefined && reachableCommits(odb, memory, earlier).size === 0;
    const path = join(this.#root, memoryFolderName);
    if (isEarlier) checkClean(files, this.#source(undefined));
    else if (files.lstat(path)) {
      throw new MemoryError('already_exists', `There is another memory in ${path}.`, {
        hint: 'Move it away, and commit that. Nothing was changed.',
        data: { path },
      });
    }
    const copy = embedMemory(odb, memory, this.#folder, known);
    const run = async () => {
      await this.#project.direct.store(copy.objects);
      const tip = copy.commits > 0 ? copy.tip : undefined;
      const added = { before, tip, after: wanted };
      await this.#commit(
        this.#project,
        this.#folder,
        added,
        'move it to the branches of the project',
      );
    };
    const brought =
      copy.commits > 0 ? ` and ${counted(copy.commits, 'commit')} of its history` : '';
    return { steps: [`A commit brings the memory${brought} to the current branch.`], run };
  }

  #toRepository(memory: Oid | undefined, given: string): Part {
    const target = this.#repositoryOf(given);
    if (target.tree.commonDir === this.#project.tree.commonDir) {
      throw new MemoryError('invalid_input', `${given} is in the repository of the project.`, {
        hint: 'Give the folder of another repository, or use own-branch.',
      });
    }
    target.checkWritable();
    const folder = folderIn(target.tree, this.#real(given));
    const { odb } = this.#project;
    const head = target.head().oid;
    const there = head && folderAt(target.odb, head, folder);
    const wanted = this.#memoryAt(memory);
    if (memory === undefined || wanted === undefined || there === wanted) {
      return { ...nothing, steps: [`The memory in ${given} is used as it is.`] };
    }
    const copy = copyMemory(odb, memory, this.#folder, folder, false);
    if (head !== undefined && there !== undefined) {
      // A move that was interrupted may have brought an earlier state of the memory.
      const { tip = '' } = copyMemory(target.odb, head, folder, folder, false);
      if (![...copy.copies.values()].includes(tip)) throw otherMemory(given);
      const { top } = target.tree;
      checkClean(this.#options.disk.files, { repository: target, top, folder, tip: head });
    }
    const run = async () => {
      await this.#project.direct.store(copy.objects);
      const tip = copy.tip ?? memory;
      await target.direct.store(objectsOf(odb, tip));
      const added = { before: there, tip, after: wanted };
      await this.#commit(target, folder, added, 'move it from another repository');
    };
    return { steps: [`A commit in ${given} brings the memory and its history.`], run };
  }

  /** Leaves the current branch, if the memory of it is a part of the history of the present one. */
  async #leaveRest(present: MovedMemory, to: string): Promise<Part> {
    const rest = this.#source(undefined);
    if (this.#memoryAt(rest.tip) === undefined) return nothing;
    const [now, old] = [await this.#historyOf(present), await this.#historyOf(rest)];
    const names = old === undefined ? [] : [{ name: 'rest', oid: old }];
    const isPart = now && reachableCommits(this.#project.odb, now, names).size === 0;
    if (!isPart) return nothing;
    checkClean(this.#options.disk.files, rest);
    return this.#leave(rest, to);
  }

  #leave(source: MovedMemory, to: string): Part {
    const { placement, repository, folder, tip, top } = source;
    if (placement?.kind === 'repository') {
      return { ...nothing, steps: [`The memory in ${placement.folder} stays as it is.`] };
    }
    if (placement) {
      const branch = this.#branch(placement.branch);
      const steps = [`The branch ${branch} stays; "git branch -D ${branch}" deletes it.`];
      return { steps, run: () => repository.direct.removeWorkTree(top) };
    }
    const before = this.#memoryAt(tip);
    if (before === undefined) return nothing;
    const run = () =>
      this.#commit(repository, folder, { before, after: undefined }, `move it; it is now ${to}`);
    const steps = [
      `A commit removes ${folder} from the current branch; its earlier commits stay as they are.`,
    ];
    return { steps, run };
  }

  /** Commits the files of a memory, or their removal, under the locks of git. */
  async #commit(
    repository: Repository,
    folder: string,
    change: {
      /** The memory that is expected to be there. */
      readonly before?: Oid | undefined;
      readonly after: Oid | undefined;
      /** The last commit of its history. */
      readonly tip?: Oid | undefined;
    },
    subject: string,
  ): Promise<void> {
    const actor = { tool: 'place', agent: undefined, session: 'command-line', mode: undefined };
    const message = commitMessage({ subject }, [], actor);
    const { tip, after } = change;
    const { odb } = after === undefined ? repository : this.#project;
    await repository.commit(async ({ oid }) => {
      const before = oid && folderAt(repository.odb, oid, folder);
      if (before !== change.before) throw hasMoved();
      const changes = changesBetween(
        { odb: repository.odb, tree: before },
        { odb, tree: after },
        folder,
      );
      const join = tip === undefined ? undefined : { tip, forward: oid === undefined };
      return { message, changes, ...(join && { join }) };
    });
  }
}
