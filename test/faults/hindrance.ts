import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../../src/core/values/error.ts';
import { note } from '../support/note.ts';
import type { Opened } from '../support/open.ts';
import { changeLocks } from '../support/ref-form.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { difference, litter, look, serve, temporaryFolder } from './place.ts';
import { begin, put, work } from './scenario.ts';
import type { Tally } from './tally.ts';

/** Obstacles to a change, each in a separate repository. */
export async function hindrances(tally: Tally): Promise<void> {
  await foreignLocks((wrong) => tally.add("another program's lock", wrong));
  await operationsUnderWay((wrong) => tally.add('merge, rebase and the like under way', wrong));
  await bankDeleted((wrong) => tally.add('.memory-bank/ deleted while served', wrong));
  await clockSetBack((wrong) => tally.add('clock set back', wrong));
  await checkoutHalfDone((wrong) => tally.add('a checkout between its index and its HEAD', wrong));
  if (process.getuid?.() !== 0) tally.skip('disk full', 'only root may mount a small disk');
  else await diskFull((wrong) => tally.add('disk full', wrong));
}

type Report = (wrong: readonly string[]) => void;

/** A lock of another program is waited for, named, and left alone. */
async function foreignLocks(report: Report): Promise<void> {
  for (const lock of changeLocks('main')) {
    await onRepo(async (repo, opened) => {
      const path = repo.path(lock);
      fs.writeFileSync(path, '');
      const wrong = await refused(repo, opened, 'busy', path);
      if (!fs.existsSync(path)) wrong.push(`${lock} was removed`);
      fs.rmSync(path, { force: true });
      report([...wrong, ...(await goesOn(repo, opened))]);
    });
  }
}

/** During a merge, rebase and the like, changes are refused and reading works. */
async function operationsUnderWay(report: Report): Promise<void> {
  const conflict = (repo: Repo, ...command: string[]) => {
    repo.git('stash', '-q');
    repo.git('checkout', '-q', '-b', 'side');
    repo.write('src/main.c', 'side\n');
    repo.git('commit', '-qam', 'side');
    repo.git('checkout', '-q', 'main');
    repo.write('src/main.c', 'main\n');
    repo.git('commit', '-qam', 'main');
    try {
      repo.git(...command);
    } catch {
      // It stops at the conflict, as expected.
    }
  };
  const states: { readonly [name: string]: (repo: Repo) => unknown } = {
    merge: (repo) => conflict(repo, 'merge', 'side'),
    'merge without commit': (repo) => {
      conflict(repo, 'merge', '-X', 'ours', '--no-commit', 'side');
    },
    squash: (repo) => conflict(repo, 'merge', '--squash', '-X', 'theirs', 'side'),
    rebase: (repo) => conflict(repo, 'rebase', 'side'),
    'rebase by apply': (repo) => conflict(repo, 'rebase', '--apply', 'side'),
    'cherry-pick': (repo) => conflict(repo, 'cherry-pick', 'side'),
    revert: (repo) => conflict(repo, 'revert', '--no-commit', 'HEAD'),
    bisect: (repo) => repo.git('bisect', 'start'),
  };
  for (const [name, enter] of Object.entries(states)) {
    await onRepo(async (repo, opened) => {
      enter(repo);
      const wrong = await refused(repo, opened, 'busy', 'under way');
      const found = await opened.call.store.get(note, 'old');
      if (found?.value.text !== 'old') wrong.push('reading does not work');
      report(wrong.map((text) => `${name}: ${text}`));
    });
  }
}

/** The user removes the whole folder: the removal is the user's commit, and new records get a new folder. */
async function bankDeleted(report: Report): Promise<void> {
  await onRepo(async (repo, opened) => {
    fs.rmSync(repo.path('.memory-bank'), { recursive: true });
    const wrong: string[] = [];
    if ((await opened.call.store.list(note)).records.length > 0) wrong.push('still listed');
    await put(opened, { new: 'new' });
    const status = repo.status();
    if (!status.includes(' D .memory-bank/notes/old.yaml')) {
      wrong.push(`the removal is no longer the user's: ${status.join(', ')}`);
    }
    repo.git('checkout', '-q', '--', '.memory-bank');
    const { records } = await opened.call.store.list(note);
    if (records.length !== 2) wrong.push(`${records.length} records after everything was restored`);
    report([...wrong, ...(await goesOn(repo, opened))]);
  });
}

/** With the clock set back, files have future timestamps, and commits are older than their parents. */
async function clockSetBack(report: Report): Promise<void> {
  await onRepo(async (repo, opened) => {
    const tomorrow = new Date(Date.now() + 86_400_000);
    const path = repo.path('.memory-bank/notes/old.yaml');
    const wrong: string[] = [];
    for (const file of ['.git/index', '.git/HEAD', '.memory-bank/notes']) {
      fs.utimesSync(repo.path(file), tomorrow, tomorrow);
    }
    fs.utimesSync(path, tomorrow, tomorrow);
    await opened.call.store.list(note);
    fs.writeFileSync(path, 'key: old\ntags: []\ntext: now\n');
    const found = await opened.call.store.get(note, 'old');
    if (found?.value.text !== 'now') wrong.push('an edit is not seen');
    report([...wrong, ...(await goesOn(repo, opened, 400))]);
  });
}

/**
 * A checkout that has changed files and index and pauses before it changes HEAD, as in a hook:
 * the change goes to the branch that HEAD names, and neither branch loses anything.
 */
async function checkoutHalfDone(report: Report): Promise<void> {
  const folder = temporaryFolder();
  const repo = Repo.in(join(folder, 'repo'));
  begin(repo);
  const opened = await serve(repo.root);
  try {
    await put(opened, { old: 'old' });
    repo.git('checkout', '-q', '-b', 'side');
    await put(opened, { old: 'of the side' });
    const side = repo.git('rev-parse', 'side').trim();
    repo.git('checkout', '-q', 'main');
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    const hook = repo.path('.git/hooks/post-index-change');
    const reached = repo.path('.git/reached');
    const go = repo.path('.git/go');
    repo.write('.git/hooks/post-index-change', waitingHook(reached, go));
    fs.chmodSync(hook, 0o755);
    const checkout = spawn('git', ['checkout', '-q', 'side'], { cwd: repo.root, env: gitEnv });
    const over = once(checkout, 'close');
    while (!fs.existsSync(reached) && checkout.exitCode === null) await sleep(5);
    fs.rmSync(hook);
    const wrong: string[] = [];
    if (repo.git('symbolic-ref', '--short', 'HEAD').trim() !== 'main')
      wrong.push('the checkout was already complete');
    await put(opened, { old: 'ours', new: 'new' });
    fs.writeFileSync(go, '');
    const [status] = await over;
    if (status !== 0) wrong.push(`the checkout ended with ${status}`);
    const { oid = '', branch } = opened.commits.at(-1) ?? {};
    if (branch !== 'main') wrong.push(`the change is reported to be on ${branch}`);
    if (repo.git('rev-parse', 'main').trim() !== oid) wrong.push('the change is not on main');
    if (repo.git('rev-parse', 'side').trim() !== side) wrong.push('the other branch was moved');
    const names = repo.git('log', '--all', '--format=', '--name-only');
    if (names.includes('staged.txt')) wrong.push("the user's file was committed");
    if (!repo.status().includes('A  staged.txt')) wrong.push("the user's file is not staged");
    report([...wrong, ...(await goesOn(repo, opened))]);
  } finally {
    await opened.workspace.close();
    fs.rmSync(folder, { recursive: true });
  }
}

function waitingHook(reached: string, go: string): string {
  return `#!/bin/sh\ntouch '${reached}'\nwhile [ ! -e '${go}' ]; do sleep 0.01; done\n`;
}

/** A nearly full disk: the change is made, or it is refused and nothing is lost. */
async function diskFull(report: Report): Promise<void> {
  for (let free = 0; free <= 96; free += 4) {
    const folder = temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]);
    try {
      const repo = Repo.in(join(folder, 'repo'));
      const opened = await prepare(repo);
      const ballast = join(folder, 'ballast');
      fillUp(ballast, free * 1024);
      const before = look(repo.root);
      const wrong: string[] = [];
      const texts = { old: 'x'.repeat(5000), new1: 'y'.repeat(5000), new2: 'z'.repeat(5000) };
      const error = await put(opened, texts).catch((thrown) => thrown);
      if (error && error.code !== 'storage') wrong.push(`refused with another error: ${error}`);
      const changed = difference(before, look(repo.root));
      if (error && changed !== '') wrong.push(`refused, but changed: ${changed}`);
      if (!error && changed === '') wrong.push('nothing has changed');
      fs.rmSync(ballast);
      report([...wrong, ...(await goesOn(repo, opened))]);
    } finally {
      execFileSync('umount', ['-l', folder]);
      fs.rmdirSync(folder);
    }
  }
}

/** Fills a disk up to this many bytes. */
function fillUp(path: string, free: number): void {
  const fd = fs.openSync(path, 'w');
  try {
    for (;;) fs.writeSync(fd, Buffer.alloc(4096));
  } catch {
    fs.ftruncateSync(fd, Math.max(fs.fstatSync(fd).size - free, 0));
  } finally {
    fs.closeSync(fd);
  }
}

async function prepare(repo: Repo): Promise<Opened> {
  begin(repo);
  const opened = await serve(repo.root);
  await put(opened, { old: 'old' });
  work(repo);
  return opened;
}

async function onRepo(action: (repo: Repo, opened: Opened) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const repo = Repo.in(join(folder, 'repo'));
  const opened = await prepare(repo);
  try {
    await action(repo, opened);
  } finally {
    await opened.workspace.close();
    fs.rmSync(folder, { recursive: true });
  }
}

/** Checks the refusal of a change by code and text, and that nothing changes; returns what is wrong. */
async function refused(repo: Repo, opened: Opened, code: string, about: string): Promise<string[]> {
  const before = look(repo.root);
  const wrong: string[] = [];
  try {
    await put(opened, { old: 'changed', new: 'new' });
    wrong.push('the change was made');
  } catch (error) {
    if (!(error instanceof MemoryError)) wrong.push(`an unexpected error: ${error}`);
    else if (error.code !== code || !(error.text + JSON.stringify(error.data)).includes(about)) {
      wrong.push(`refused with another error: ${error.code}: ${error.text}`);
    }
  }
  const changed = difference(before, look(repo.root));
  if (changed !== '') wrong.push(`refused, but changed: ${changed}`);
  return wrong;
}

/** Checks the state after the obstacle is gone; returns what is wrong. */
async function goesOn(repo: Repo, opened: Opened, calm = 0): Promise<string[]> {
  const other = await serve(repo.root, undefined, undefined, { calm });
  try {
    await put(opened, { next: 'next' });
    await put(other, { next2: 'next' });
  } catch (error) {
    return [`the next change fails: ${error}`];
  } finally {
    await other.workspace.close();
  }
  const { fsck } = look(repo.root);
  const left = litter(repo.root);
  return [
    ...(fsck === '' ? [] : [`git fsck: ${fsck}`]),
    ...(left.length === 0 ? [] : [`left behind: ${left.join(', ')}`]),
  ];
}
