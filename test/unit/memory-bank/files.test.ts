import { describe, expect, it } from 'vitest';
import { coreNames, failure, open } from './open.ts';

const wild = '\uFEFF---\r\na: 1\r\n---\r\n<<<<<<< ours\n# x\r\n=======\n\ttrailing  \0\u2028';

describe('write_memory_bank_file and read_memory_bank_file', () => {
  it('keep every character', async () => {
    const { call, context, commits } = open({});
    expect(
      await call('write_memory_bank_file', { filename: 'docs/größe.md', content: wild }),
    ).toEqual({
      isError: false,
      body: { status: 'success', message: 'File written successfully' },
    });
    expect(context.store.files.get('docs/größe.md')).toBe(wild);
    expect(await call('read_memory_bank_file', { filename: 'docs/größe.md' })).toEqual({
      isError: false,
      body: { status: 'success', content: wild },
    });
    expect(commits()).toEqual(['write docs/größe.md']);
  });

  it('read only the section that is named', async () => {
    const content = '# Log\n\n## One\n\nfirst\n\n### Why\n\nbecause\n\n## Two\n\nsecond\n';
    const { call } = open({ 'a.md': content });
    const read = (section: string) => call('read_memory_bank_file', { filename: 'a.md', section });
    expect((await read('Log > One')).body.content).toBe(
      '## One\n\nfirst\n\n### Why\n\nbecause\n\n',
    );
    expect((await read('one  > why')).body.content).toBe('### Why\n\nbecause\n\n');
    expect((await call('Decision_Log', { section: 'Two' })).isError).toBe(true);
    const { isError, body } = await read('Three');
    expect(isError).toBe(true);
    expect(Object(body.error).message).toMatch(/There is no section "Three".*"Log > Two"/);
  });

  it('make no commit for what is there already', async () => {
    const { call, commits } = open({ 'a.md': 'x' });
    const { isError } = await call('write_memory_bank_file', { filename: 'a.md', content: 'x' });
    expect(isError).toBe(false);
    expect(commits()).toEqual([]);
  });

  it('make no other file with the first write', async () => {
    const { call, context, commits } = open();
    await call('write_memory_bank_file', { filename: 'a.md', content: '' });
    expect([...context.store.files.keys()].sort()).toEqual(['a.md']);
    expect(commits()).toEqual(['write a.md']);
  });

  it('find a core file under either of its names', async () => {
    const { call, file } = open({ 'active-context.md': 'old', 'decisionLog.md': 'log' });
    const read = async (filename: string) =>
      (await call('read_memory_bank_file', { filename })).body.content;
    expect(await read('activeContext.md')).toBe('old');
    expect(await read('decision-log.md')).toBe('log');
    await call('write_memory_bank_file', { filename: 'activeContext.md', content: 'new' });
    await call('write_memory_bank_file', { filename: 'system-patterns.md', content: 'p' });
    expect(file('active-context.md')).toBe('new');
    expect(file('activeContext.md')).toBeUndefined();
    expect(file('systemPatterns.md')).toBe('p');
  });

  it('take a file for what it is in any Unicode normal form', async () => {
    const { call, file } = open({ 're\u0301sume\u0301.md': 'x' });
    const { body } = await call('read_memory_bank_file', { filename: 'r\u00e9sum\u00e9.md' });
    expect(body.content).toBe('x');
    await call('write_memory_bank_file', { filename: 're\u0301sume\u0301.md', content: 'y' });
    expect(file('re\u0301sume\u0301.md')).toBe('y');
  });

  it.each([
    ['r\u00e9sum\u00e9.md', 're\u0301sume\u0301.md'],
    ['re\u0301sume\u0301.md', 'r\u00e9sum\u00e9.md'],
    ['R\u00c9SUM\u00c9.md', 're\u0301sume\u0301.md'],
    ['r\u00e9/new.md', 're\u0301/a.md'],
  ])('refuse to write %j where there is its twin %j', async (filename, there) => {
    const { call, file, commits } = open({ [there]: 'x' });
    expect(await call('write_memory_bank_file', { filename, content: 'y' })).toEqual(
      failure('invalid_request', expect.stringContaining(`"${there}"`)),
    );
    expect(file(there)).toBe('x');
    expect(commits()).toEqual([]);
  });

  it.each([
    ['Docs/new.md', 'docs/a.md'],
    ['PROGRESS.md', 'progress.md'],
    ['progress.md/new.md', 'progress.md'],
    ['docs/a.md/new.md', 'docs/a.md'],
  ])('refuse %s beside %s', async (filename, beside) => {
    const { call, commits } = open({ 'progress.md': '', 'docs/a.md': '' });
    expect(await call('write_memory_bank_file', { filename, content: 'x' })).toEqual(
      failure(
        'invalid_request',
        expect.stringContaining(`clashes with the existing file "${beside}"`),
      ),
    );
    expect(commits()).toEqual([]);
  });

  it.each([
    '',
    'notes',
    'notes.txt',
    '.md/',
    '/etc/a.md',
    '../a.md',
    'a/../../a.md',
    '%2e%2e/a.md',
    '..%2fa.md',
    '%252e%252e%252fa.md',
    '..\\a.md',
    'C:\\a.md',
    'C:/a.md',
    'a\0.md',
    'a\n.md',
    'a\u202egnp.md',
    '.git/a.md',
    '.GIT/hooks/a.md',
    'git~1/a.md',
    '.git./a.md',
    '.g\u200cit/a.md',
    'con.md',
    'a:b.md',
    'a /b.md',
    `${'x'.repeat(300)}.md`,
    `${'x/'.repeat(20)}a.md`,
    'graph/a.md',
    'Documents/a.md',
    'banks/code/x/a.md',
    'rules/code.md',
  ])('refuse the name %j', async (filename) => {
    const { call, context } = open({});
    const refused = failure('invalid_request', expect.stringMatching(/^filename: must /));
    expect(await call('write_memory_bank_file', { filename, content: 'x' })).toEqual(refused);
    expect(await call('read_memory_bank_file', { filename })).toEqual(refused);
    expect(await call('delete_memory_bank_file', { filename })).toEqual(refused);
    expect(context.store.files.size).toBe(0);
  });

  it.each([
    [{}, 'filename: is required; content: is required'],
    [{ filename: 1, content: 'x' }, 'filename: expected string, received number'],
    [{ filename: 'a.md', content: null }, 'content: must not be null'],
    ['a.md', 'expected object'],
  ])('refuse the arguments %j', async (args, message) => {
    const { call, commits } = open({});
    expect(await call('write_memory_bank_file', args)).toEqual(
      failure('invalid_request', expect.stringContaining(message)),
    );
    expect(commits()).toEqual([]);
  });

  it('refuse more than 1 MiB', async () => {
    const { call, context } = open({});
    const content = 'ä'.repeat(512 * 1024);
    await call('write_memory_bank_file', { filename: 'a.md', content });
    expect(context.store.files.get('a.md')).toBe(content);
    expect(
      await call('write_memory_bank_file', { filename: 'a.md', content: `${content}x` }),
    ).toEqual(failure('invalid_request', expect.stringContaining('1048576 bytes (1 MiB)')));
    expect(context.store.files.get('a.md')).toBe(content);
  });

  it('tell that a file is missing, and what may have been meant', async () => {
    const read = (files: { [path: string]: string }, filename: string) =>
      open(files).call('read_memory_bank_file', { filename });
    expect(await read({}, 'progress.md')).toEqual(
      failure('file_not_found', expect.stringContaining('initialize_memory_bank')),
    );
    expect(await read({ 'progress.md': '' }, 'Progress.md')).toEqual(
      failure('file_not_found', expect.stringContaining('"progress.md"?')),
    );
  });
});

describe('list_memory_bank_files', () => {
  it('has the core files first and nothing of other toolsets', async () => {
    const files = ['docs/b.md', 'a.md', 'graph/x.md', 'banks/code/y/z.md', 'config.yaml', 'a.txt'];
    const { call } = open(Object.fromEntries([...files, ...coreNames].map((path) => [path, ''])));
    expect((await call('list_memory_bank_files')).body).toEqual({
      status: 'success',
      files: [...coreNames, 'a.md', 'docs/b.md'],
    });
  });

  it('is empty where there is no memory bank', async () => {
    const { call } = open();
    expect((await call('list_memory_bank_files')).body).toEqual({ status: 'success', files: [] });
  });
});

describe('delete_memory_bank_file', () => {
  it('deletes a file, a core file too', async () => {
    const { call, context, commits } = open({ 'progress.md': 'x', 'a.md': '' });
    expect((await call('delete_memory_bank_file', { filename: 'progress.md' })).body).toEqual({
      status: 'success',
      message: 'File deleted successfully',
    });
    expect([...context.store.files.keys()]).toEqual(['a.md']);
    expect(commits()).toEqual(['delete progress.md']);
    expect((await call('get_memory_bank_status')).body.missing).toContain('progress.md');
  });

  it('tells that there is no such file', async () => {
    const { call, commits } = open({});
    expect(await call('delete_memory_bank_file', { filename: 'a.md' })).toEqual(
      failure('file_not_found', expect.any(String)),
    );
    expect(commits()).toEqual([]);
  });
});

describe('the tools for one core file', () => {
  it.each([
    ['Product_Context', 'productContext.md'],
    ['Active_Context', 'activeContext.md'],
    ['Progress', 'progress.md'],
    ['Decision_Log', 'decisionLog.md'],
    ['System_Patterns', 'systemPatterns.md'],
  ])('%s reads %s', async (tool, path) => {
    const { call } = open({ [path]: 'text' });
    expect((await call(tool)).body).toEqual({ status: 'success', content: 'text' });
    expect(await open().call(tool)).toEqual(failure('file_not_found', expect.any(String)));
  });
});
