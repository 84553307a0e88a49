import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeDeep } from '../support/depth.ts';
import { Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = new Stage();
  await stage.succeed('initialize_memory_bank', { path: '.' });
  await stage.succeed('activate', { bank_type: 'project', bank_id: 'shop' });
  await stage.succeed('activate_project');
  await stage.succeed('create_objective', { slug: 'ship', name: 'Ship' });
});
afterAll(async () => {
  expect(stage.repo.fsck()).toBe('');
  expect(stage.around()).toEqual(['home', 'outside.md', 'project']);
  await stage.close();
});

/** Paths that leave a folder, in every spelling that a decoder may resolve. */
const traversal = [
  '../x.md',
  '../../../../etc/passwd',
  '../outside.md',
  'a/../../../outside.md',
  '..\\..\\x.md',
  'a\\..\\..\\x.md',
  '%2e%2e/x.md',
  '%2E%2E%2Fx.md',
  '..%2fx.md',
  '..%5cx.md',
  '%252e%252e%252fx.md',
  '\uff0e\uff0e/x.md',
  '..\uff0fx.md',
  '\u2025/x.md',
  '.\u200b./x.md',
  '/etc/passwd.md',
  '//server/share.md',
  'C:\\x.md',
  'C:/x.md',
  '\\\\?\\C:\\x.md',
  'file:///etc/passwd.md',
  './x.md',
  'a/./b.md',
  'a//b.md',
  '..',
  '.',
  '/',
  '',
  'x.md\0.png',
  'x\0/../../y.md',
];

/** Names that some system treats as `.git`, or as a file with a meaning for git. */
const disguises = [
  '.git/config',
  '.git/hooks/post-commit.md',
  '.GIT/x.md',
  '.Git/x.md',
  '.git /x.md',
  '.git./x.md',
  '.git. . /x.md',
  '.git::$INDEX_ALLOCATION/x.md',
  'git~1/x.md',
  'GIT~1/x.md',
  'GI7EBA~1/x.md',
  '.g\u200cit/x.md',
  '.git\u200d/x.md',
  '.\ufeffgit/x.md',
  '.\uff47it/x.md',
  'a/.git/x.md',
  '.gitmodules',
  '.gitattributes',
  '.gitignore',
];

const unusable = [
  'con.md',
  'CON.md',
  'nul.md',
  'aux/x.md',
  'com1.md',
  'com\u00b9.md',
  'lpt9.md',
  'prn.txt.md',
  'conin$.md',
  'a\u202egnp.md',
  'a\u2066b.md',
  'a\u200bb.md',
  'a\ufeffb.md',
  'a\u2028b.md',
  'a\nb.md',
  'a\u001b[2Jb.md',
  'x.md ',
  ' x.md',
  'a /x.md',
  'a./x.md',
  'a*.md',
  'a?.md',
  'a|b.md',
  'a<b>.md',
  'a:b.md',
  'a"b.md',
  '\ud800.md',
  `${'x'.repeat(300)}.md`,
  `${'\u{1f600}'.repeat(60)}.md`,
  `${'a/'.repeat(200)}x.md`,
  `${'a'.repeat(100_000)}.md`,
  'x.md/',
  'x',
  'config.yaml',
  'knowledge/patterns/x.yaml',
];

const names = [...traversal, ...disguises, ...unusable];
const show = (name: string) => JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);

describeDeep('a name of a file that', () => {
  test.each(names.map((name) => [show(name), name]))('is %s is refused', async (_, filename) => {
    await stage.refuse('write_memory_bank_file', { filename, content: 'text' });
    await stage.refuse('read_memory_bank_file', { filename });
    await stage.refuse('delete_memory_bank_file', { filename });
    const bank = { bank_type: 'project', bank_id: 'shop' };
    const update = { ...bank, target_file: filename, operation: 'append', content: 'text' };
    await stage.refuse('update', update);
  });
});

test('a name in another normal form is the same name', async () => {
  await stage.succeed('write_memory_bank_file', {
    filename: 'caf\u0065\u0301.md',
    content: 'text',
  });
  expect(stage.files()).toContain('caf\u00e9.md');
  const { content } = await stage.succeed('read_memory_bank_file', { filename: 'caf\u00e9.md' });
  expect(content).toBe('text');
});

describeDeep('a path of the history that', () => {
  test.each([...traversal, ...disguises].map((name) => [show(name), name]))(
    'is %s leads nowhere',
    async (_, path) => {
      const answers: string[] = [];
      if (path !== '') answers.push(await stage.refuse('blame_record', { path }));
      if (path !== '') answers.push(await stage.refuse('restore_memory', { path, confirm: true }));
      for (const tool of ['record_history', 'diff_memory', 'read_as_of']) {
        const before = stage.state();
        const reply = await stage.call(tool, { path, revision: 'HEAD', from: 'HEAD~1' });
        answers.push(JSON.stringify(reply.body));
        expect(stage.state()).toEqual(before);
      }
      expect(answers.join()).not.toMatch(/root:x:|repositoryformatversion/);
    },
  );
});

describeDeep('a path of the project that', () => {
  test.each(
    ['../x', 'a/../../x', 'C:\\x', 'C:/x', '..', '.', '/', '', 'a\0b'].map((p) => [show(p), p]),
  )('is %s is refused', async (_, path) => {
    await stage.refuse('create_paths', { paths: [{ path, type: 'file' }] });
  });
});

describe('a slug that', () => {
  test.each(
    [...traversal, 'A', 'a b', 'a_b', 'a/', '/a', 'con\u0000', 'é'].map((s) => [show(s), s]),
  )('is %s is refused', async (_, slug) => {
    await stage.refuse('create_features', { features: [{ slug, name: 'x' }] });
    await stage.refuse('create_objective', { slug, name: 'x' });
  });
});

describeDeep('a revision that', () => {
  test.each(
    [
      '--help',
      '-x',
      '../../HEAD',
      'refs/../../config',
      '@{-1}..',
      ':/x',
      'HEAD:README.md',
      'HEAD^{/x}',
      '\0',
      'x'.repeat(100_000),
      '\u202e',
      'HEAD~99999999999',
      '$(id)',
      '`id`',
    ].map((r) => [show(r), r]),
  )('is %s is refused', async (_, revision) => {
    await stage.refuse('read_as_of', { revision, path: 'config.yaml' });
    await stage.refuse('diff_memory', { from: revision });
  });
});

/** Names that are valid and distinct on every file system. */
const safe = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[^\p{Cc}\p{Cf}\p{Cs}<>:"|?*\\/]*[^. ]$/iu;

describeDeep('a key that is free text', () => {
  test.each(names.filter((name) => name !== '').map((name) => [show(name), name]))(
    'may be %s, and its file is safe',
    async (_, key) => {
      const before = new Set(stage.files());
      const entry = { category: 'patterns', key, value: 'text' };
      await stage.call('memory_write', entry);
      await stage.call('create_tickets', { tickets: [{ key, title: key }] });
      await stage.call('store_memory', { title: key, type: 'analysis', content: key });
      await stage.call('activate', { bank_type: 'code', bank_id: key });
      for (const path of stage.files().filter((file) => !before.has(file))) {
        for (const name of path.split('/')) {
          expect(name).toMatch(safe);
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
          expect(name).toBe(name.normalize('NFC'));
          expect(name).not.toMatch(/^\.?git$|^git~/i);
        }
      }
      expect(stage.repo.status()).toEqual([]);
      expect(stage.around()).toEqual(['home', 'outside.md', 'project']);
      const { body, error } = await stage.call('memory_read', { category: 'patterns', key });
      if (!error && !/\p{Cs}/u.test(key)) {
        expect(body).toMatchObject({ entries: [{ key, value: 'text' }] });
      }
    },
  );
});
