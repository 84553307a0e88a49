import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeDeep } from '../support/depth.ts';
import { piped } from '../support/windows.ts';
import { Stage } from './stage.ts';

let stage: Stage;
/** A folder outside the project. */
let outside: string;

beforeEach(async () => {
  stage = new Stage();
  outside = join(dirname(stage.repo.root), 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.md'), 'nobody may read this\n');
  await stage.succeed('initialize_memory_bank', { path: '.' });
  await stage.succeed('memory_write', { category: 'patterns', key: 'a', value: 'mine' });
  await stage.succeed('create_tickets', { tickets: [{ key: 'a' }] });
});
afterEach(() => stage.close());

const bank = (path: string) => stage.repo.path(join('.memory-bank', path));

/** Puts a link instead of a file or folder of the memory. */
function plant(path: string, target: string): void {
  rmSync(bank(path), { recursive: true, force: true });
  mkdirSync(dirname(bank(path)), { recursive: true });
  symlinkSync(target, bank(path));
}

/** Reads in every way, and returns all answers. */
async function readEverything(): Promise<string> {
  const answers: unknown[] = [];
  for (const [tool, args] of [
    ['read_memory_bank_file', { filename: 'progress.md' }],
    ['read_memory_bank_file', { filename: 'link.md' }],
    ['read_memory_bank_file', { filename: 'link/secret.md' }],
    ['list_memory_bank_files', {}],
    ['get_memory_bank_status', {}],
    ['memory_read', {}],
    ['memory_list', {}],
    ['list_tickets', {}],
    ['get_ticket', { key: 'a' }],
    ['search_memory', { query: 'nobody' }],
    ['search_memory', { query: 'root', fuzzy: false }],
    ['record_history', { path: 'progress.md' }],
    ['list', {}],
  ] as const) {
    const { body, note } = await stage.call(tool, args);
    answers.push(body, note);
  }
  return JSON.stringify(answers);
}

describeDeep('a link in the bank is not followed:', () => {
  test.each([
    ['a memory file to a file outside', 'progress.md', '../../outside/secret.md'],
    ['a file to /etc/passwd', 'progress.md', '/etc/passwd'],
    ['a new file', 'link.md', '../../outside/secret.md'],
    ['a folder', 'link', '../../outside'],
    ['a record', 'graph/tickets/a.yaml', '../../../../outside/secret.md'],
    ['a record to another', 'knowledge/patterns/b.md', 'a.md'],
    ['a folder of records', 'knowledge/patterns', '../../../outside'],
    ['a folder of everything', 'knowledge', '../../outside'],
    ['a folder to git', 'graph', '../.git'],
    ['a folder to itself', 'graph/tickets', '.'],
    ['a file to itself', 'progress.md', 'progress.md'],
    ['a file to nothing', 'progress.md', 'nowhere.md'],
    ['the settings', 'config.yaml', '../../outside/secret.md'],
    ['the rules', 'rules', '../../outside'],
    ['a rule file', 'rules/code.yaml', '../../../outside/secret.md'],
  ])('%s', async (_, path, target) => {
    plant(path, target);
    expect(await readEverything()).not.toMatch(/nobody may|root:x:|repositoryformatversion/);
    for (const [tool, args] of [
      ['write_memory_bank_file', { filename: 'progress.md', content: 'written' }],
      ['write_memory_bank_file', { filename: 'link.md', content: 'written' }],
      ['write_memory_bank_file', { filename: 'link/new.md', content: 'written' }],
      ['track_progress', { action: 'written', description: 'written' }],
      ['memory_write', { category: 'patterns', key: 'new', value: 'written' }],
      ['memory_write', { category: 'patterns', key: 'b', value: 'written' }],
      ['update_ticket', { key: 'a', title: 'written' }],
      ['create_tickets', { tickets: [{ key: 'new' }] }],
      ['memory_delete', { category: 'patterns', key: 'a', confirm: true }],
      ['memory_prune', { max_age_days: 0, max_entries: 0, dry_run: false, confirm: true }],
      ['delete_ticket', { key: 'a' }],
    ] as const) {
      await stage.call(tool, args);
    }
    expect(readFileSync(join(outside, 'secret.md'), 'utf8')).toBe('nobody may read this\n');
    expect(stage.around()).toEqual(['home', 'outside', 'outside.md', 'project']);
    expect(stage.state()).not.toHaveProperty('outside/new.md');
    expect(stage.repo.fsck()).toBe('');
    // No link was committed, nor any data from its target.
    const committed = stage.repo.git('ls-tree', '-r', 'HEAD');
    expect(committed).not.toMatch(/^120000/m);
    expect(stage.repo.git('log', '-p', '--all')).not.toMatch(/nobody may|root:x:/);
  });
});

describe('a memory folder that is a link', () => {
  test.each([
    ['outside', '../outside'],
    ['to git', '.git'],
    ['to nothing', 'nowhere'],
    ['to itself', '.memory-bank'],
  ])('%s is refused', async (_, target) => {
    renameSync(bank(''), stage.repo.path('old'));
    symlinkSync(target, stage.repo.path('.memory-bank'));
    await stage.refuse('create_tickets', { tickets: [{ key: 'new' }] });
    await stage.refuse('write_memory_bank_file', { filename: 'x.md', content: 'x' });
    expect(await readEverything()).not.toMatch(/nobody may|repositoryformatversion/);
  });
});

describeDeep('what is no file', () => {
  test('a folder instead of a record', async () => {
    rmSync(bank('graph/tickets/a.yaml'));
    mkdirSync(bank('graph/tickets/a.yaml/inner'), { recursive: true });
    await stage.refuse('create_tickets', { tickets: [{ key: 'a' }] });
    await stage.succeed('create_tickets', { tickets: [{ key: 'b' }] });
  });

  test('a file instead of a folder', async () => {
    rmSync(bank('graph'), { recursive: true });
    writeFileSync(bank('graph'), 'in the way');
    await stage.refuse('create_tickets', { tickets: [{ key: 'new' }] });
    await stage.succeed('memory_write', { category: 'patterns', key: 'b', value: 'x' });
  });

  piped('a pipe, which would be read for ever', async () => {
    const { execFileSync } = await import('node:child_process');
    rmSync(bank('graph/tickets/a.yaml'));
    execFileSync('mkfifo', [bank('graph/tickets/a.yaml')]);
    await stage.refuse('create_tickets', { tickets: [{ key: 'a' }] });
    await stage.succeed('create_tickets', { tickets: [{ key: 'b' }] });
    rmSync(bank('graph/tickets/a.yaml'));
  });

  test('a link to the project’s folder is followed', async () => {
    symlinkSync(stage.repo.root, join(dirname(stage.repo.root), 'alias'));
    await stage.succeed('set_memory_bank_path', { path: '../alias' });
    await stage.succeed('create_tickets', { tickets: [{ key: 'b' }] });
    expect(stage.repo.status()).toEqual([]);
  });
});
