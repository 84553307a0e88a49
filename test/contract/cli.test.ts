import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { run as runHere } from '../../src/cli/cli.ts';
import { exitStatus } from '../../src/cli/line/exit-status.ts';
import { commandName } from '../../src/cli/line/tool-arguments.ts';
import { errorCodes } from '../../src/core/values/error.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { deep, isFull, sample } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

/** The program in a folder, with a home of its own. */
function program(cwd: string, input = '', settings: { readonly [name: string]: string } = {}) {
  const env = { PATH: process.env.PATH, HOME: newFolder(), ...settings };
  return (...args: string[]) => runProgram(cwd, args, { env, input });
}

const tools = toolsets.flatMap((toolset) => toolset.tools);

/** A made-up credential. */
const TOKEN = `ghp_${'qJ3vT8xZ1b'.repeat(3)}kW5m9R`;

afterEach(() => vi.restoreAllMocks());

describe('every tool', () => {
  test.each(tools)('$name is a command that explains itself', async (tool) => {
    const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const toolset = toolsets.find((one) => one.tools.includes(tool));
    const name = commandName(tool.name);
    const words =
      name.includes('-') || name === toolset?.name ? [name] : [toolset?.name ?? '', name];
    expect(await runHere([...words, '--help'], '/')).toBe(0);
    const text = out.mock.calls.join('').replace(/\s+/g, ' ');
    expect(text).toContain(tool.description);
    for (const key of Object.keys(tool.input.shape))
      expect(text).toMatch(new RegExp(`--(\\[no-\\])?${commandName(key)} `));
  });

  test('has a command name of its own', () => {
    const names = tools.map(({ name }) => commandName(name));
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('product-context');
    expect(names).toContain('track-progress');
  });
});

describe('settings of a model that cannot be asked', () => {
  const form = 'MEMORY_BANK_CHAT_URL is not an http:// or https:// address';
  test.each([
    ['http://127.0.0.1:1/v1', '', 'MEMORY_BANK_CHAT_MODEL is not set'],
    ['', 'm', 'MEMORY_BANK_CHAT_URL is not set'],
    ['localhost:11434', 'm', `${form}: localhost:11434`],
    ['127.0.0.1/v1', 'm', `${form}: 127.0.0.1/v1`],
    ['file:///v1', 'm', `${form}: file:///v1`],
  ])('address "%s" and model "%s" are told of, and stop nothing', (url, model, why) => {
    const repo = Repo.create();
    const settings = { MEMORY_BANK_CHAT_URL: url, MEMORY_BANK_CHAT_MODEL: model };
    const args = ['memory-write', '--category', 'patterns', '--key', 'a', '--value', 'b'];
    const { status, stderr } = program(repo.root, '', settings)(...args);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `memory-bank: warning: No model is used: ${why}.\n`,
    });
    repo.remove();
  });
});

describe('the arguments of a tool', () => {
  const repo = Repo.create();
  const run = program(repo.root);

  test('texts and lists are options, and the change is one commit', () => {
    const args = ['--title', 'Use JWT', '--context', 'an API', '--decision', 'JWT'];
    const { status, stdout, stderr } = run(
      'log-decision',
      ...args,
      ...['--alternatives', 'cookies', '--alternatives', 'basic'],
    );
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: 'Decision logged successfully\n',
      stderr: '',
    });
    expect(repo.git('log', '-1', '--format=%s %(trailers:key=Memory-Agent)').trim()).toMatch(
      /^memory: log decision "Use JWT" Memory-Agent: memory-bank-cli\/1\.0\.0\+[0-9a-f]{8}$/,
    );
    expect(run('decision-log').stdout).toContain('- cookies\n- basic\n');
  });

  test('a short command also says what an agent would get next to the answer', () => {
    expect(run('diff', '2020-01-01').stderr).toMatch(
      /^memory-bank: note: The branch has no commit before 2020-01-01T/,
    );
  });

  deep('a boolean can be turned off', () => {
    const before = run('active-context').stdout;
    const args = ['--action', 'Ship', '--description', 'it', '--no-update-active-context'];
    expect(run('track-progress', ...args).status).toBe(0);
    expect(run('active-context').stdout).toBe(before);
    expect(run('progress').stdout).toContain('Ship: it');
  });

  deep('JSON on stdin may begin with a byte order mark', () => {
    const entry = JSON.stringify({ category: 'patterns', key: 'marked', value: 'v' });
    expect(program(repo.root, `\ufeff${entry}`)('memory-write', '--json', '-').status).toBe(0);
    expect(run('memory-read', '--key', 'marked').stdout).toContain('value: v');
  });

  deep('objects are JSON, as is the whole input', () => {
    const features = JSON.stringify([{ slug: 'auth', name: 'Auth' }]);
    expect(run('create-features', '--features', features).stdout).toContain('slug: auth');
    const entry = JSON.stringify({ category: 'patterns', key: 'k', value: 'line\n' });
    expect(program(repo.root, entry)('memory-write', '--json', '-').status).toBe(0);
    const { stdout } = run('memory-read', '--key', 'k', '--limit', '1', '--output', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ success: true, entries: [{ value: 'line\n' }] });
    const broken = run('create-features', '--features', '{');
    expect(broken).toMatchObject({ status: 2, stdout: '' });
    expect(broken.stderr).toContain('--features is not valid JSON');
  });

  deep.each([
    [['log-decision', '--title', 'x'], 2, '--context is required'],
    [['memory-read', '--limit', 'many'], 2, '--limit must be a number, not "many"'],
    [['get-feature', '--slug', 'none'], 3, "Feature 'none' not found"],
    [['memory-write', '--category', 'decisions', '--key', 'k', '--value', 'v'], 5, '--confirm'],
    [['memory-read', '--toolsets', 'graph'], 2, '--toolsets leaves out'],
    [['memory-read', '--nonsense'], 2, '--nonsense'],
    [['nonsense'], 2, 'There is no command "nonsense".'],
  ])('%j fails with the status %i', (args, status, message) => {
    const head = repo.git('rev-parse', 'HEAD');
    const result = run(...args);
    expect(result).toMatchObject({ status, stdout: '' });
    expect(result.stderr).toContain(message);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  const answersTo: readonly (readonly [args: readonly string[], message: string])[] = [
    [[TOKEN], 'There is no command "[a GitHub token]".'],
    [[`--${TOKEN}`, 'status'], '[a GitHub token]'],
    [['status', TOKEN], '[a GitHub token]'],
    [['memory-read', '--limit', TOKEN], 'must be a number, not "[a GitHub token]"'],
    [['memory-read', '--toolsets', TOKEN], '[a GitHub token]'],
    [['memory-read', '--json', TOKEN], '--json is not valid JSON: Unexpected token'],
    [['memory-read', '--json', `{"limit":${TOKEN}}`], '--json is not valid JSON: Unexpected token'],
    [['show', TOKEN], 'There is no record "[a GitHub token]".'],
    [['search', 'x', '--toolset', TOKEN], 'There is no toolset "[a GitHub token]" with records.'],
    [['completion', TOKEN], 'There is no completion for "[a GitHub token]".'],
    [['init', '--clients', TOKEN], 'There is no client "[a GitHub token]".'],
    [['import', TOKEN], '[a GitHub token]'],
    [['export', TOKEN], '[a GitHub token]'],
    [['log', '--revision', TOKEN], '[a GitHub token]'],
  ];
  deep.each(sample(answersTo, 4))('an error does not repeat a credential (%#)', (args, message) => {
    const { stdout, stderr } = run(...args);
    expect(stderr).toContain(message);
    // Not even a piece of it.
    expect(stdout + stderr).not.toContain(TOKEN.slice(0, 8));
  });

  test('a failure as JSON is the answer of the tool', () => {
    const { status, stdout } = run('get-feature', '--slug', 'none', '--output', 'json');
    expect(status).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ success: false, error: { type: 'not_found' } });
  });
});

describe('a tool that wants the project to be activated', () => {
  test('is called at once; a read makes no memory', () => {
    const cwd = newFolder();
    const run = program(cwd);
    expect(run('list-memories')).toMatchObject({ status: 5, stdout: '' });
    expect(readdirSync(cwd)).toEqual([]);
    const args = ['--title', 'Plan', '--type', 'design_doc', '--content', '# Plan'];
    const { status, stdout } = run('store-memory', ...args);
    expect(status).toBe(0);
    expect(run('get-memory', '--memory-id', stdout.trim()).stdout).toContain('# Plan');
  });
});

test('an option before the command is that of every command', () => {
  const repo = Repo.create();
  const run = program(newFolder());
  const { status, stdout } = run(
    '--root',
    repo.root,
    '--mode',
    'ask',
    'switch-mode',
    '--mode',
    'code',
  );
  expect({ status, mode: /^mode: .*$/m.exec(stdout)?.[0] }).toEqual({
    status: 0,
    mode: 'mode: code',
  });
});

test('docs/cli.md tells the exit status of every error', async () => {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
  for (const code of errorCodes) {
    const row = new RegExp(`^\\| ${exitStatus[code]} +\\|.*\`${code}\``, 'm');
    expect(text, code).toMatch(row);
  }
});

describe('the completion', () => {
  const run = program(newFolder());

  test.runIf(isFull && existsSync('/bin/bash'))(
    'of bash knows commands, options and values',
    () => {
      const script = run('completion', 'bash').stdout;
      const bin = newFolder();
      const file = join(bin, 'memory-bank');
      writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
        mode: 0o755,
      });
      const complete = (...words: string[]) => {
        const list = words.map((word) => `'${word}'`).join(' ');
        const call = `COMP_WORDS=('${file}' ${list}); COMP_CWORD=${words.length}; _memory_bank`;
        return execFileSync('/bin/bash', ['-c', `${script}\n${call}; echo "\${COMPREPLY[*]}"`], {
          encoding: 'utf8',
        }).trim();
      };
      expect(complete('log-d')).toBe('log-decision');
      expect(complete('log-decision', '--ti')).toBe('--title');
      expect(complete('--root', '/x', 'memory-write', '--category', 'deci')).toBe('decisions');
      expect(complete('merge-dr')).toBe('');
    },
  );

  deep('knows what a word can be where it is', () => {
    const root = Repo.create().root;
    const at = program(root);
    at('memory-write', '--category', 'patterns', '--key', 'build cache', '--value', 'v');
    const complete = (...words: string[]) => {
      const { stdout } = at('complete', '--', 'memory-bank', ...words);
      const [kind, ...lines] = stdout.trimEnd().split('\n');
      return kind === 'files' ? kind : lines.map((line) => line.replace(/\t.*/, ''));
    };
    expect(complete('show', 'knowl')).toEqual([
      expect.stringMatching(/^knowledge\/patterns\/build.*\.md$/),
    ]);
    expect(complete('show', 'build')).toEqual(['build cache']);
    expect(complete('diff', 'ma')).toEqual(['main']);
    expect(complete('show', 'x', '--as-of', 'ma')).toEqual(['main']);
    expect(complete('export', 'si')).toEqual(['site']);
    expect(complete('export', 'site', '')).toBe('files');
    expect(complete('export', 'memory-bank')).toEqual(['memory-bank']);
    expect(complete('import', '--from', 'memory-bank-')).toEqual(['memory-bank-db']);
    expect(complete('init', '--clients', 'cur')).toEqual(['cursor']);
    expect(complete('--toolsets', 'gr')).toEqual(['graph']);
    expect(complete('--mode', 'arch')).toEqual(['architect']);
    expect(complete('ban')).toEqual(['banks']);
    expect(complete('banks', 'sw')).toEqual(['swap']);
    expect(complete('help', 'restore-')).toEqual([]);
    expect(complete('help', 'resto')).toEqual(['restore']);
    expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(complete('show', 'x', 'y')).toEqual([]);
  });

  test.each(['zsh', 'fish'])('of %s asks the program', (shell) => {
    expect(run('completion', shell).stdout).toContain('complete -- ');
  });

  test('of another shell is refused', () => {
    expect(run('completion', 'cmd')).toMatchObject({ status: 2, stdout: '' });
  });
});
