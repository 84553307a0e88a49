import { existsSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { formerRule } from '../../src/git/repository/conversions.ts';
import { deep } from '../support/depth.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { agentOf, requireReviews, startApp, write } from '../support/reviewed.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

function create(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  return repo;
}

async function serve(root: string): Promise<Opened> {
  const opened = await open(root, [note]);
  cleanUp.push(() => opened.workspace.close());
  return opened;
}

const add = (opened: Opened, key: string) =>
  opened.call.store.change({ subject: `add ${key}` }, (draft) =>
    draft.put(note, { key, tags: [], text: 'text' }),
  );

const refusal = (file: string) => ({
  code: 'unsupported',
  message: expect.stringContaining(`in ${file}, which this program cannot do`),
});

const crypt = '.memory-bank/** filter=git-crypt diff=git-crypt\n';

test.each(['.gitattributes', '.git/info/attributes'])(
  'a memory that %s wants encrypted is not written in the clear',
  async (file) => {
    const repo = create();
    repo.write(file, crypt);
    const before = repo.status();
    const opened = await serve(repo.root);
    await expect(add(opened, 'a')).rejects.toMatchObject(refusal(file));
    await expect(opened.call.project.initialize()).rejects.toMatchObject({ code: 'unsupported' });
    expect(existsSync(repo.path('.memory-bank'))).toBe(false);
    expect(repo.status()).toEqual(before);
    // The user decides that it may be read by everybody.
    repo.write(file, `${crypt}.memory-bank/** -filter\n`);
    await add(opened, 'a');
    expect(repo.git('show', 'HEAD:.memory-bank/notes/a.yaml')).toContain('text');
  },
);

test('the attributes of the memory itself hide no wish of the user', async () => {
  const repo = create();
  const opened = await serve(repo.root);
  await add(opened, 'a');
  const attributes = repo.read('.memory-bank/.gitattributes');
  repo.write('.gitattributes', crypt);
  const filter = () => repo.git('check-attr', 'filter', '.memory-bank/notes/a.yaml').trim();
  expect(filter()).toMatch(/git-crypt$/);
  // As version 1.0.0 wrote it.
  repo.write('.memory-bank/.gitattributes', attributes.replace('* -text', formerRule));
  expect(filter()).toMatch(/unset$/);
  await expect(add(opened, 'b')).rejects.toMatchObject(refusal('.gitattributes'));
  repo.write('.memory-bank/.gitattributes', `${attributes}notes/* ident\n`);
  repo.write('.gitattributes', '');
  await expect(add(opened, 'b')).rejects.toMatchObject(refusal('.memory-bank/.gitattributes'));
});

deep('init and doctor see it before the first write', async () => {
  const repo = create();
  repo.write('.git/info/attributes', '*.yaml working-tree-encoding=UTF-16\n');
  const run = (...args: string[]) => {
    const env = { ...gitEnv, MEMORY_BANK_DURABILITY: 'relaxed' };
    return runProgram(repo.root, args, { env });
  };
  const { status, stderr } = run('init', '--clients', 'claude', '--yes');
  expect(status).not.toBe(0);
  expect(stderr).toContain('(working-tree-encoding=UTF-16) by the rule');
  expect(repo.status()).toEqual([]);
  expect(run('doctor').stdout).toMatch(/^WRONG Repository .*working-tree-encoding=UTF-16/m);
  repo.write('.git/info/attributes', '');
  expect(run('init', '--clients', 'none', '--yes').status).toBe(0);
  repo.write('.gitattributes', crypt);
  repo.write('.memory-bank/.gitattributes', `${formerRule}\n* merge=memory-bank\n`);
  expect(run('doctor').stdout).toContain(`replace the line "${formerRule}"`);
});

test('a review has no text in the clear that the branches of the code encrypt', async () => {
  const repo = create();
  const app = startApp(repo);
  cleanUp.push(() => app.close());
  await requireReviews(repo, app, app.connect());
  repo.write('.gitattributes', '*.md filter=git-crypt\n');
  repo.git('add', '.gitattributes');
  repo.git('commit', '-q', '-m', 'Encrypt notes');
  await expect(write(app, agentOf(app), 'secret')).rejects.toThrow('filter=git-crypt');
  const log = repo.git('log', '--all', '--format=%s');
  expect(log).not.toContain('secret');
});

test('a line end is kept by the attributes of the memory', async () => {
  const repo = create();
  repo.write('.gitattributes', '* text=auto eol=crlf\n');
  repo.git('config', 'core.autocrlf', 'true');
  const opened = await serve(repo.root);
  await add(opened, 'a');
  const path = '.memory-bank/notes/a.yaml';
  repo.git('rm', '-q', '--cached', path);
  repo.git('add', path);
  expect(repo.git('status', '--porcelain', path)).toBe('');
});
