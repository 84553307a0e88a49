import { describe, expect, it } from 'vitest';
import { updatePrompt } from '../../../src/toolsets/memory-bank/update-prompt.ts';
import { coreNames, failure, open } from './open.ts';

describe('initialize_memory_bank', () => {
  it('creates the five files with the headings of the seed', async () => {
    const { call, file, context, commits } = open();
    expect((await call('initialize_memory_bank', { path: '/projects/app' })).body).toEqual({
      status: 'success',
      message: 'Memory Bank initialized successfully',
      path: '/projects/app/.memory-bank',
      created: coreNames,
    });
    expect(commits()).toEqual(['initialize memory bank']);
    expect(file('activeContext.md')).toBe(
      '# Current Context\n\n## Ongoing Tasks\n\n## Known Issues\n\n## Next Steps\n\n## Current Session Notes\n',
    );
    const headings = [...context.store.files].map(([path, text]) => [path, text.split('\n\n')]);
    expect(Object.fromEntries(headings)).toMatchSnapshot();
  });

  it('keeps what is there, and makes no commit when nothing is missing', async () => {
    const { call, file, commits } = open({ 'progress.md': 'mine', 'decision-log.md': 'mine' });
    const { body } = await call('initialize_memory_bank', { path: '.' });
    expect(body.created).toEqual(['activeContext.md', 'productContext.md', 'systemPatterns.md']);
    expect(file('progress.md')).toBe('mine');
    expect(file('decisionLog.md')).toBeUndefined();
    expect((await call('initialize_memory_bank', { path: '.' })).body.created).toEqual([]);
    expect(commits()).toHaveLength(1);
  });

  it.each([[{}], [{ path: '' }], [{ path: 5 }], [{ path: null }]])('refuses %j', async (args) => {
    const { call, commits } = open();
    for (const tool of ['initialize_memory_bank', 'set_memory_bank_path']) {
      expect(await call(tool, args)).toEqual(
        failure('invalid_request', expect.stringContaining('path: ')),
      );
    }
    expect(commits()).toEqual([]);
  });
});

describe('set_memory_bank_path', () => {
  it('tells where the bank is and whether there is one', async () => {
    const { call, commits } = open();
    expect((await call('set_memory_bank_path', { path: '/other' })).body).toEqual({
      status: 'success',
      message: 'Memory Bank path set successfully',
      memoryBankStatus: 'uninitialized',
      path: '/other/.memory-bank',
    });
    expect(commits()).toEqual([]);
  });
});

describe('get_memory_bank_status', () => {
  it('tells what is there and what is missing', async () => {
    const { call } = open({
      'progress.md': '',
      'activeContext.md': '',
      'active-context.md': '',
      'product-context.md': '',
    });
    expect((await call('get_memory_bank_status')).body).toEqual({
      status: 'success',
      memoryBankStatus: 'initialized',
      path: '/project/.memory-bank',
      files: ['activeContext.md', 'progress.md', 'active-context.md', 'product-context.md'],
      missing: ['decisionLog.md', 'systemPatterns.md'],
      shadowed: ['active-context.md'],
    });
  });

  it('tells that there is no bank', async () => {
    expect((await open().call('get_memory_bank_status')).body).toMatchObject({
      memoryBankStatus: 'uninitialized',
      files: [],
      missing: coreNames,
    });
  });
});

describe('the modes', () => {
  const code = {
    name: 'code',
    source: 'built-in',
    instructions: ['Write code.'],
    umb: { trigger: 'code', instructions: ['Look around.'], overrideFileRestrictions: true },
    filesToRead: undefined,
    filesToUpdate: ['progress.md'],
    triggers: {},
  };
  const rules = {
    mode: 'code',
    source: 'built-in',
    instructions: ['Write code.'],
    filesToRead: null,
    filesToUpdate: ['progress.md'],
  };

  function openWithModes() {
    const opened = open({ 'b.md': '', 'progress.md': '' });
    opened.context.modes.modes = [code];
    return opened;
  }

  it('answer the rules of the mode that the session is in', async () => {
    const { call } = openWithModes();
    expect((await call('get_current_mode')).body).toEqual({
      status: 'success',
      mode: null,
      updating: false,
      modes: ['code'],
    });
    expect((await call('switch_mode', { mode: 'code' })).body).toEqual({
      status: 'success',
      message: 'Switched to code mode',
      ...rules,
    });
    expect((await call('get_current_mode')).body).toMatchObject(rules);
    expect((await call('switch_mode', { mode: 'none' })).body.mode).toBeNull();
    expect((await call('get_current_mode')).body.mode).toBeNull();
  });

  it('refuse a mode that there is not', async () => {
    const { call } = openWithModes();
    expect(await call('switch_mode', { mode: 'chaos' })).toEqual(
      failure('mode_not_found', expect.stringContaining('"chaos"')),
    );
    expect(await call('switch_mode', {})).toEqual(failure('invalid_request', 'mode: is required'));
  });

  it('begin and end an update', async () => {
    const { call, context } = openWithModes();
    await call('switch_mode', { mode: 'code' });
    expect((await call('process_umb_command', { command: 'UMB' })).body).toEqual({
      status: 'success',
      message: 'Memory Bank update begun',
      mode: 'code',
      instructions: ['Look around.'],
      filesToUpdate: null,
    });
    expect(context.modes.updating).toBe(true);
    expect((await call('complete_umb')).body).toEqual({
      status: 'success',
      message: 'Memory Bank update completed',
    });
    expect(context.modes.updating).toBe(false);
    expect(await call('complete_umb')).toEqual(
      failure('invalid_request', expect.stringContaining('process_umb_command')),
    );
  });

  it('begin an update without a mode, by the usual steps', async () => {
    const { call } = openWithModes();
    const { body } = await call('process_umb_command', { command: 'update memory bank' });
    expect(body).toMatchObject({ mode: null, filesToUpdate: null });
    expect(String(body.instructions)).toContain('track_progress');
  });

  it('take nothing else for the command of an update', async () => {
    const { call, context } = openWithModes();
    expect(await call('process_umb_command', { command: 'please' })).toEqual(
      failure('invalid_request', expect.stringContaining('"Update Memory Bank"')),
    );
    expect(context.modes.updating).toBe(false);
  });

  it('write the prompt of an update', async () => {
    const { call, context } = openWithModes();
    expect(await updatePrompt.text(context)).toContain('3. Record finished work');
    await call('switch_mode', { mode: 'code' });
    expect(await updatePrompt.text(context)).toBe(
      'Bring the memory bank of this project up to date.\n\n' +
        '1. Call process_umb_command with the command "Update Memory Bank".\n' +
        '2. Look around.\n' +
        '3. Call complete_umb.\n\n' +
        'Files: progress.md, b.md.',
    );
    context.modes.modes = [{ ...code, umb: undefined }];
    expect(await updatePrompt.text(context)).toContain(
      'In code mode only these may be updated: progress.md.',
    );
  });
});
