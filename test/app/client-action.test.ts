import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { actionsOf, readAction } from '../../src/app/hook/client-action.ts';
import { newFolder } from '../support/process.ts';

const root = realpathSync.native(newFolder());
const outside = realpathSync.native(newFolder());
mkdirSync(join(root, 'src/deep'), { recursive: true });
writeFileSync(join(root, 'src/a.ts'), '');

const about = (tool: string, input: unknown, cwd = root) => {
  const action = readAction(tool, input);
  return action ? actionsOf(action, root, cwd).map(({ subject }) => subject) : [];
};

it.each([
  ['an absolute path', join(root, 'src/a.ts'), root, ['src/a.ts']],
  ['a path relative to the folder of the session', '../a.ts', join(root, 'src/deep'), ['src/a.ts']],
  ['a file that does not exist yet', 'src/new.ts', root, ['src/new.ts']],
  ['a file outside the project', join(outside, 'a.ts'), root, []],
  ['a path that leads out', '../../etc/passwd', root, []],
  ['the project itself', root, root, []],
  ['a file of the memory', '.memory-bank/progress.md', root, []],
  ['a file of git', '.git/config', root, []],
  ['a path of Windows on another system', 'Q:\\work\\..\\..\\a.ts', root, []],
  ['a share', '//server/share/a.ts', root, []],
  ['half a surrogate pair', 'src/\ud800.ts', root, ['src/\ud800.ts']],
  ['NUL', 'src/\0a.ts', root, []],
  ['an empty path', '', root, []],
  ['a long path', `src/${'a/'.repeat(40_000)}`, root, []],
])('a call names the file: %s', (_, path, cwd, expected) => {
  expect(about('Read', { file_path: path }, cwd)).toEqual(expected);
});

it.each([
  ['Edit', { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' }, ['src/a.ts']],
  ['NotebookEdit', { notebook_path: 'src/a.ipynb' }, ['src/a.ipynb']],
  ['replace_string_in_file', { filePath: 'src/a.ts' }, ['src/a.ts']],
  ['view', '{"path":"src/a.ts"}', ['src/a.ts']],
  ['read_files', { files: [{ path: 'src/a.ts' }, { path: 'src/b.ts' }] }, ['src/a.ts', 'src/b.ts']],
  // The command line of Cline gives the list as a text.
  ['read_files', { files: '[{"path":"src/a.ts"}]' }, ['src/a.ts']],
  ['read_files', { files: [7, { path: 7 }] }, []],
  ['Grep', { path: 'src/a.ts', pattern: 'x' }, []],
  ['mcp__memory-bank__read_memory_bank_file', { path: 'src/a.ts' }, []],
  ['Read', { file_path: 7 }, []],
  ['Read', { file_path: { path: 'src/a.ts' } }, []],
  ['Read', '{"path":', []],
  ['Read', null, []],
  ['Read', ['src/a.ts'], []],
  ['Task', { description: 'x' }, []],
  ['Bash', { command: 'sed -n 1,5p src/a.ts | head' }, ['src/a.ts', 'sed -n 1,5p src/a.ts | head']],
  ['shell', { command: ['bash', '-lc', './run.sh x'] }, ['run.sh', './run.sh x']],
  [
    'apply_patch',
    { input: '*** Begin Patch\n*** Update File: src/a.ts\n*** Move to: src/b.ts\n*** End Patch' },
    ['src/a.ts', 'src/b.ts'],
  ],
])('the input of the tool %s: %j', (tool, input, expected) => {
  expect(about(tool, input)).toEqual(expected);
});

it('a path through a link is that of the file which it leads to', () => {
  const kind = process.platform === 'win32' ? 'junction' : 'dir';
  symlinkSync(join(root, 'src'), join(root, 'linked'), kind);
  symlinkSync(root, join(outside, 'project'), kind);
  symlinkSync(outside, join(root, 'away'), kind);
  const keysAt = (path: string) => {
    const action = readAction('Read', { file_path: path });
    return action ? actionsOf(action, root, root).flatMap(({ keys }) => keys) : [];
  };
  expect(keysAt('linked/a.ts')).toEqual(expect.arrayContaining(['p linked/a.ts', 'p src/a.ts']));
  expect(keysAt(join(outside, 'project/src/a.ts'))).toContain('p src/a.ts');
  expect(keysAt('away/b.ts').filter((key) => key.startsWith('p '))).toEqual(['p away/b.ts']);
});
