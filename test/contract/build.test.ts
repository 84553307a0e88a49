import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { deep, describeDeep } from '../support/depth.ts';
import { newFolder, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

const top = resolve(import.meta.dirname, '../..');
/** A clone of the project, whose sources a test may change. */
const clone = newFolder();
const builds = join(clone, 'dist/builds');
const main = join(clone, 'dist/main.cjs');

/** A call of each toolset, none of which has loaded its code before. */
const calls: readonly (readonly [string, object])[] = [
  ['get_memory_bank_status', {}],
  ['list_features', {}],
  ['activate_project', {}],
  ['memory_write', { category: 'patterns', key: 'k', value: 'v' }],
  ['list', {}],
  ['search_memory', { query: 'words' }],
  ['record_history', { path: 'knowledge' }],
];

beforeAll(() => {
  for (const name of ['src', 'rules', 'plugins', 'build.js', 'package.json', 'package-lock.json']) {
    cpSync(join(top, name), join(clone, name), { recursive: true });
  }
  cpSync(join(top, 'tsconfig.json'), join(clone, 'tsconfig.json'));
  symlinkSync(join(top, 'node_modules'), join(clone, 'node_modules'));
  build();
});

function build(): void {
  execFileSync(process.execPath, ['build.js'], { cwd: clone });
}

function builtIds(): string[] {
  return readdirSync(builds).filter((name) => name !== '.npmignore');
}

/** A server of the current build whose client has listed its tools. */
async function start(): Promise<RawClient> {
  const client = new RawClient([main], { cwd: Repo.create().root }).initialize();
  await client.answer('init');
  client.request('tools', 'tools/list');
  await client.answer('tools');
  return client;
}

describeDeep('the compiled code', () => {
  const cwd = Repo.create().root;
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd });
    expect([status, String(stderr)]).toEqual([0, '']);
    return String(stdout);
  };
  const kept = (kind: string) => {
    const [id = ''] = builtIds();
    return join(builds, id, `${kind}.${process.version}-${process.arch}.cache`);
  };

  /** Makes a file this many seconds old. */
  const age = (path: string, seconds: number) => {
    const time = Date.now() / 1000 - seconds;
    utimesSync(path, time, time);
  };

  test.each([
    ['hooks', 'quick', ['brief']],
    ['commands', 'command', ['status']],
    ['the server', 'stdio', ['--version']],
  ])('of %s is kept for the next process, and made again if it is damaged', (_, kind, args) => {
    const path = kept(kind);
    rmSync(path, { force: true });
    const said = run(...args);
    age(path, -3600);
    const { ino, size } = statSync(path);
    expect(run(...args)).toBe(said);
    expect(statSync(path).ino).toBe(ino);
    truncateSync(path, Math.floor(size / 2));
    expect(run(...args)).toBe(said);
    expect(statSync(path).size).toBeGreaterThan(size / 2);
    const header = JSON.stringify([0, [['cli.js', 'long']]]);
    const damages = ['', 'no code', `${String.fromCharCode(header.length)}\0\0\0${header}`];
    for (const damaged of damages) {
      writeFileSync(path, damaged);
      expect(run(...args)).toBe(said);
      expect(statSync(path).size).toBeGreaterThan(size / 2);
    }
  });

  test('of a module that another process has loaded stays', () => {
    const path = kept('command');
    rmSync(path, { force: true });
    run('help');
    const { size } = statSync(path);
    run('status');
    expect(statSync(path).size).toBeGreaterThan(size);
    age(path, -3600);
    const both = statSync(path);
    run('help');
    expect(statSync(path).ino).toBe(both.ino);
  });

  test('gets the functions that only later processes call', () => {
    const path = kept('command');
    rmSync(path, { force: true });
    run('help');
    age(path, -3600);
    const { ino, size } = statSync(path);
    run('help', 'list');
    expect(statSync(path).ino).toBe(ino);
    age(path, 3600);
    run('help', 'list');
    expect(statSync(path).size).toBeGreaterThan(size);
  });
});

describe('a build', () => {
  test('has only the schemas of the SDK that something uses', () => {
    const chunks = join(builds, builtIds()[0] ?? '', 'chunks');
    const texts = readdirSync(chunks)
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(join(chunks, name), 'utf8'));
    const has = (name: string) => texts.some((text) => text.includes(`${name}=`));
    expect(['InitializeRequestSchema', 'ElicitResultSchema'].filter(has)).toHaveLength(2);
    expect(['CompleteRequestSchema', 'ListToolsRequestSchema'].filter(has)).toEqual([]);
  });

  deep('is not repeated while nothing has changed', () => {
    const [id = ''] = builtIds();
    const before = [main, join(builds, id, 'cli.js')].map((path) => statSync(path).ino);
    build();
    expect(builtIds()).toEqual([id]);
    expect([main, join(builds, id, 'cli.js')].map((path) => statSync(path).ino)).toEqual(before);
  });

  deep('leaves running servers and starts during the build alone', async () => {
    const [old = ''] = builtIds();
    const client = await start();
    appendFileSync(join(clone, 'src/cli/cli.ts'), '\nexport const changed = true;\n');
    let building = true;
    const built = promisify(execFile)(process.execPath, ['build.js'], { cwd: clone }).finally(
      () => {
        building = false;
      },
    );
    let started = 0;
    for (; building || started === 0; started++) {
      const { status, stderr } = spawnSync(process.execPath, [main, '--version'], {
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
      await new Promise((next) => setImmediate(next));
    }
    await built;
    expect(builtIds()).toHaveLength(2);
    for (const [i, [name, args]] of calls.entries()) {
      client.call(i, name, args);
      const { result } = await client.answer(i);
      expect(result.isError, name).toBeUndefined();
    }
    expect(await client.end()).toBe(0);
    expect(client.err).toBe('');
    expect(builtIds()).toContain(old);
  });

  deep('is removed a day after its last use', async () => {
    const all = builtIds();
    for (const id of all) utimesSync(join(builds, id), 1, 1);
    // The server marks its build as in use; without main.cjs, the next build does not know which it was.
    const client = await start();
    rmSync(main);
    appendFileSync(join(clone, 'src/cli/cli.ts'), '\nexport const changedAgain = true;\n');
    build();
    expect(builtIds()).toHaveLength(2);
    expect(builtIds().filter((id) => all.includes(id))).toHaveLength(1);
    client.call(1, 'memory_list');
    expect((await client.answer(1)).result.isError).toBeUndefined();
    await client.end();
  });
});

deep('a server whose program was removed says so in the words of each toolset', async () => {
  const client = await start();
  rmSync(builds, { recursive: true });
  for (const [i, [name, args]] of calls.entries()) {
    client.call(i, name, args);
    const { result } = await client.answer(i);
    expect(result.isError, name).toBe(true);
    const text = result.content.map((part: { text: string }) => part.text).join('\n');
    expect(text, name).toContain('The program was replaced while this server ran.');
    expect(text, name).toContain('Restart the client');
  }
  await client.end();
  const { status, stderr } = spawnSync(process.execPath, [main], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^memory-bank: a file of the program is missing: .*\n$/);
  build();
  expect(spawnSync(process.execPath, [main, '--version']).status).toBe(0);
});
