import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { deep } from '../support/depth.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';

let repo: Repo;
beforeEach(() => {
  repo = Repo.create();
  repo.write('src/lock.ts', 'export const limit = 1;\n');
  repo.git('add', '-A');
  repo.write('src/limit.ts', 'export const limit = 1;\n');
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Add a lock');
  write('locks', 'One lock in src/lock.ts, at most as src/limit.ts:1 says');
});

function write(key: string, value: string): void {
  run(['memory-write', '--category', 'decisions', '--confirm', '--key', key, '--value', value]);
}

function run(args: readonly string[], input?: string, more: NodeJS.ProcessEnv = {}) {
  const env = { ...gitEnv, ...more };
  const { status, stdout, stderr } = runProgram(repo.root, args, { env, input });
  return { status, stdout, stderr };
}

/** Creates a task with a claim, and returns its id. */
function claim(slug: string): string {
  run(['create-objective', '--slug', slug, '--name', slug]);
  const tasks = JSON.stringify([{ text: 'Do it' }]);
  const args = ['--objective-slug', slug, '--tasks', tasks, '--output', 'json'];
  const id = /"id": "([^"]+)"/.exec(run(['create-tasks', ...args]).stdout)?.[1] ?? '';
  run(['claim-task', '--id', id]);
  return id;
}

/** Runs a command and reports whether the small part of the program has answered it. */
function observe(args: readonly string[], input?: string) {
  const folder = newFolder();
  const { stdout } = run(args, input, { NODE_V8_COVERAGE: folder });
  const loaded = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  rmSync(folder, { recursive: true });
  return { stdout, isQuick: !loaded.some((text) => text.includes('/cli.js"')) };
}

const ownFolder = () => join(repo.root, '.git/memory-bank');

function cutDigest(share: number, start = 'brief-'): void {
  const [name = ''] = readdirSync(ownFolder()).filter((one) => one.startsWith(start));
  const path = join(ownFolder(), name);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(share * bytes.length)));
}

function removeDigests(): void {
  for (const name of readdirSync(ownFolder())) {
    if (name.startsWith('brief-')) rmSync(join(ownFolder(), name));
  }
}

/** Stores the digest, which a process does only once the files are some time old. */
async function settle(): Promise<void> {
  await setTimeout(100);
  run(['brief']);
}

deep('a second brief loads a small part of the program, and gives the same text', async () => {
  await settle();
  const second = observe(['brief']);
  removeDigests();
  const first = observe(['brief']);
  expect(second).toEqual({ stdout: first.stdout, isQuick: true });
  expect(first.isQuick).toBe(false);
  expect(first.stdout).toContain('One lock in src/lock.ts');
});

deep('a brief says which records the code has left behind, and is quick again', async () => {
  await settle();
  expect(run(['brief']).stdout).not.toContain('Needs attention');
  repo.write('src/limit.ts', 'export const limit = 2;\n');
  await settle();
  const line =
    /^- knowledge\/decisions\/locks\.md: may be out of date: "The text of src\/limit\.ts:1 was changed.*"$/m;
  const stale = observe(['brief']);
  expect(stale.stdout).toMatch(line);
  expect(stale.isQuick).toBe(true);
  repo.git('commit', '-q', '-a', '-m', 'Raise the limit');
  expect(observe(['brief'])).toMatchObject({ isQuick: false, stdout: expect.stringMatching(line) });
  expect(observe(['brief'])).toMatchObject({ isQuick: true, stdout: expect.stringMatching(line) });
});

deep('a brief names records in conflict, also those without marks of a merge', async () => {
  repo.git('switch', '-q', '-c', 'other');
  repo.git('rm', '-q', '.memory-bank/knowledge/decisions/locks.md');
  repo.git('commit', '-q', '-m', 'Remove a record');
  repo.git('switch', '-q', '-');
  write('locks', 'Two locks');
  expect(() => repo.git('merge', 'other')).toThrow();
  await settle();
  expect(observe(['brief'])).toEqual({
    isQuick: true,
    stdout: expect.stringContaining('locks.md: in conflict after a merge: resolve_conflicts'),
  });
});

deep('a server renews the digest after its commits, and before it ends', async () => {
  const env = { MEMORY_BANK_PROFILE: 'agent' };
  const client = new RawClient([main], { cwd: repo.root, env }).initialize();
  const entry = (key: string) => ({ category: 'patterns', key, value: 'text' });
  await client.call(1, 'memory_write', entry('first')).answer(1);
  await setTimeout(2_500);
  expect(observe(['brief'])).toMatchObject({
    isQuick: true,
    stdout: expect.stringContaining('first.md'),
  });
  await client.call(2, 'memory_write', entry('second')).answer(2);
  await client.end();
  expect(observe(['brief'])).toMatchObject({
    isQuick: true,
    stdout: expect.stringContaining('second.md'),
  });
});

test('the small part has no zod, no tools, no search and no table of words in it', () => {
  const [build = ''] = /builds\/\w+/.exec(readFileSync(main, 'utf8')) ?? [];
  const pathOf = (name: string) => join(main, '..', build, name);
  expect(statSync(pathOf('quick.cjs')).size).toBeLessThan(150_000);
  expect(statSync(pathOf('quick-search.cjs')).size).toBeLessThan(300_000);
  for (const name of ['quick.cjs', 'quick-search.cjs']) {
    expect(readFileSync(pathOf(name), 'utf8')).not.toContain('word table 1');
  }
});

const prompts = [
  ['with words of a record', 'Where is the lock, and what does limit.ts say about it?', true],
  ['with words of two records', 'Who keeps the signing keys of the release?', true],
  ['with misspelt words', 'Who keeps the signign keys of the relaese?', false],
  ['that is the title of a record', 'rotation', true],
  [
    'about a section of a document',
    'How is the staging cluster of the deployment restarted?',
    true,
  ],
  ['that no record is about', 'Translate this poem into French', false],
] as const;

deep.each(prompts)(
  'a prompt %s is answered quickly, as the whole program answers it',
  async (_, prompt, isKnown) => {
    write('rotation', 'Keys rotate each quarter');
    write('keys', 'The signing keys of the release are in the vault');
    repo.write(
      '.memory-bank/deployment.md',
      '# Deployment\n\n## Staging\n\nRestart the staging cluster twice.\n\n## Live\n\nAsk the owner.\n',
    );
    await settle();
    const event = (session: string) =>
      JSON.stringify({
        session_id: session,
        hook_event_name: 'UserPromptSubmit',
        cwd: repo.root,
        prompt,
      });
    const quick = observe(['hook', 'prompt'], event('a'));
    removeDigests();
    const whole = observe(['hook', 'prompt'], event('b'));
    expect(quick).toEqual({ stdout: whole.stdout, isQuick: true });
    expect(whole.isQuick).toBe(false);
    expect(quick.stdout !== '').toBe(isKnown);
    // The next prompt finds what was written meanwhile.
    write('poems', 'Translate each poem into French by hand');
    const next = JSON.stringify({
      ...JSON.parse(event('c')),
      prompt: 'Translate the poem by hand',
    });
    expect(observe(['hook', 'prompt'], next).stdout).toContain('poems.md');
  },
);

const actions = [
  ['that a record is about', { file_path: 'src/lock.ts' }, 'One lock in src/lock.ts'],
  ['that a record has as evidence', { file_path: 'src/limit.ts' }, 'Raise it with care'],
  ['that no record is about', { file_path: 'src/other.ts' }, ''],
] as const;

deep.each(actions)(
  'an action on a file %s is answered quickly, as the whole program answers it',
  async (_, tool_input, expected) => {
    const correction = ['memory-write', '--category', 'corrections', '--key', 'limit'];
    run([...correction, '--value', 'Raise it with care', '--evidence', 'src/limit.ts:1']);
    await settle();
    const act = (session_id: string) =>
      observe(
        ['hook', 'action'],
        JSON.stringify({
          ...{ session_id, hook_event_name: 'PreToolUse', cwd: repo.root },
          ...{ tool_name: 'Read', tool_input },
        }),
      );
    const quick = act('a');
    expect(quick.isQuick).toBe(true);
    expect(quick.stdout.includes(expected)).toBe(true);
    expect(quick.stdout === '').toBe(expected === '');
    removeDigests();
    expect(act('b')).toEqual({ stdout: quick.stdout, isQuick: false });
    // The code of the evidence changes: the commit is named, also by a session that has begun.
    repo.write('src/limit.ts', 'export const limit = 2;\n');
    repo.git('commit', '-q', '-a', '-m', 'Raise the limit');
    const commit = repo.git('rev-parse', 'HEAD').slice(0, 12);
    expect(act('c').stdout.includes(`(last changed by ${commit})`)).toBe(expected !== '');
    // A record that was changed by hand is not shown as it was.
    const path = '.memory-bank/knowledge/decisions/locks.md';
    repo.write(path, repo.read(path).replace('One lock', 'Two locks'));
    expect(act('d').stdout).not.toContain('One lock');
  },
);

deep(
  'a prompt says which of its records the code has left behind, quickly from the second time on',
  async () => {
    write('limits', 'The limit of workers is in src/limit.ts:1');
    await settle();
    const ask = (session: string) =>
      observe(
        ['hook', 'prompt'],
        JSON.stringify({
          session_id: session,
          hook_event_name: 'UserPromptSubmit',
          cwd: repo.root,
          prompt: 'What is the limit of the workers?',
        }),
      );
    const fresh = ask('a');
    expect(fresh).toMatchObject({ isQuick: true, stdout: expect.stringContaining('limits.md') });
    expect(fresh.stdout).not.toContain('Needs attention');
    repo.write('src/limit.ts', 'export const limit = 2;\n');
    await setTimeout(100);
    const first = ask('b');
    const second = ask('c');
    expect([first.isQuick, second.isQuick]).toEqual([false, true]);
    expect(second.stdout).toBe(first.stdout);
    expect(first.stdout).toMatch(
      /Needs attention\\n- knowledge\/decisions\/[a-z]+\.md: may be out of date: \\"The text of src\/limit\.ts:1/,
    );
    write('words', 'The limit of workers is a word of the settings');
    run([
      'verify',
      'knowledge/decisions/words.md',
      '--supersedes',
      'knowledge/decisions/limits.md',
    ]);
    expect(ask('d').stdout).not.toContain('limits.md:');
  },
);

describe('the brief is that of the whole program', () => {
  const changes: readonly (readonly [name: string, isQuick: boolean, change: () => void])[] = [
    ['a record is written', false, () => write('b', 'Two')],
    [
      'a record is edited by hand to the same size, with the same time',
      false,
      () => {
        const path = join(repo.root, '.memory-bank/knowledge/decisions/locks.md');
        const text = readFileSync(path, 'utf8');
        writeFileSync(path, text.replace('One lock', 'Any lock'));
        utimesSync(path, new Date(0), new Date(0));
      },
    ],
    [
      'a record is deleted',
      false,
      () => rmSync(join(repo.root, '.memory-bank/knowledge/decisions/locks.md')),
    ],
    [
      'a file appears in a new folder',
      false,
      () => repo.write('.memory-bank/new/note.md', '# Note\n'),
    ],
    ['another branch is checked out', true, () => repo.git('switch', '-q', '-c', 'locks')],
    [
      'code is committed on a branch',
      true,
      () => {
        repo.git('switch', '-q', '-c', 'fix');
        repo.write('src/lock.ts', 'export const limit = 2;\n');
        repo.git('commit', '-q', '-a', '-m', 'Raise the limit');
      },
    ],
    [
      'tasks are claimed, and one is released',
      false,
      () => {
        claim('a');
        run(['release-task', '--id', claim('b'), '--force']);
      },
    ],
    ['code is edited', true, () => repo.write('src/lock.ts', 'export const limit = 30;\n')],
    [
      'a branch with memory is merged',
      false,
      () => {
        repo.git('switch', '-q', '-c', 'other');
        write('c', 'Three');
        repo.git('switch', '-q', '-');
        repo.git('merge', '-q', '--no-ff', '--no-edit', 'other');
      },
    ],
    [
      'a change of the memory is reverted',
      false,
      () => {
        write('d', 'Four');
        repo.git('revert', '--no-edit', 'HEAD');
      },
    ],
    ['the digest is cut', false, () => cutDigest(0.2)],
    ['the end of the digest is cut', false, () => cutDigest(0.95)],
    // A brief does without the index of the search.
    ['the index of the search is cut', true, () => cutDigest(0.5, 'records-')],
    ['the changes since the base are cut', false, () => cutDigest(0.5, 'recent-')],
    [
      'code that a record names by its lines is edited',
      false,
      () => repo.write('src/limit.ts', 'export const limit = 2;\n'),
    ],
    [
      'code that a record names by its path is removed',
      false,
      () => rmSync(join(repo.root, 'src/lock.ts')),
    ],
    [
      'a merge leaves a record in conflict',
      false,
      () => {
        repo.git('switch', '-q', '-c', 'other');
        write('locks', 'Two locks');
        repo.git('switch', '-q', '-');
        write('locks', 'Three locks');
        expect(() => repo.git('merge', 'other')).toThrow();
      },
    ],
    [
      'the digest is changed',
      false,
      () => {
        const [name = ''] = readdirSync(ownFolder()).filter((one) => one.startsWith('brief-'));
        appendFileSync(join(ownFolder(), name), 'x');
        const path = join(ownFolder(), name);
        writeFileSync(path, readFileSync(path, 'utf8').replace('One lock', 'No lock'));
      },
    ],
  ];

  deep.each(changes)('after %s', async (_, isQuick, change) => {
    await settle();
    change();
    const seen = observe(['brief']);
    removeDigests();
    expect(seen).toEqual({ stdout: run(['brief']).stdout, isQuick });
  });
});

deep('a brief says who has claimed a task, and what could not be sent, and is quick', async () => {
  repo.write('.memory-bank/config.yaml', `${repo.read('.memory-bank/config.yaml')}sync: auto\n`);
  const id = claim('a');
  await settle();
  const { stdout, isQuick } = observe(['brief']);
  expect(stdout).toContain(
    '- sync: the remote does not have the last changes: "The branch main has no upstream on a remote.',
  );
  expect(stdout).toMatch(
    /\n## Claimed by sessions\n- graph\/tasks\/.*\.yaml: by "memory-bank-cli\/.* \(.*\)" until 2\d{3}-.*Z\n/,
  );
  expect(isQuick).toBe(true);
  // After some time the whole program first gets what others have pushed.
  const path = repo.path('.git/memory-bank/state.json');
  const kept: { 'auto-sync': { tried: string } } = JSON.parse(readFileSync(path, 'utf8'));
  kept['auto-sync'].tried = new Date(Date.now() - 100_000).toISOString();
  writeFileSync(path, JSON.stringify(kept));
  expect(observe(['brief'])).toEqual({ stdout, isQuick: false });
  expect(observe(['brief'])).toEqual({ stdout, isQuick: true });
  run(['release-task', '--id', id, '--force']);
  expect(observe(['brief']).stdout).not.toContain('Claimed by sessions');
});

deep('a hook is answered where no digest can be stored', async () => {
  await settle();
  const event = (session: string) =>
    JSON.stringify({ session_id: session, hook_event_name: 'SessionStart', cwd: repo.root });
  for (const start of ['recent-', 'brief-', 'records-']) {
    const [name = ''] = readdirSync(ownFolder()).filter((one) => one.startsWith(start));
    rmSync(join(ownFolder(), name));
    // No rename can replace it.
    mkdirSync(join(ownFolder(), name, 'in the way'), { recursive: true });
    const { stdout } = observe(['hook', 'session-start'], event(start));
    expect(stdout).toContain('One lock in src/lock.ts');
  }
  expect(run(['brief']).status).toBe(0);
});

deep('a hook is answered quickly, and a project without a memory too', async () => {
  const event = (session: string, cwd = repo.root) =>
    JSON.stringify({
      session_id: session,
      hook_event_name: 'SessionStart',
      cwd,
      source: 'startup',
    });
  await settle();
  const quick = observe(['hook', 'session-start'], event('a'));
  removeDigests();
  const whole = observe(['hook', 'session-start'], event('b'));
  expect([quick.isQuick, whole.isQuick]).toEqual([true, false]);
  expect(quick.stdout).toContain('One lock in src/lock.ts');
  // Another session gets the same lines.
  expect(whole.stdout).toContain('One lock in src/lock.ts');
  const elsewhere = Repo.create().root;
  expect(observe(['hook', 'session-start'], event('c', elsewhere))).toEqual({
    stdout: '',
    isQuick: true,
  });
});

deep(
  'hooks of a large memory without a digest wait for none, and one process builds it',
  async () => {
    const files = Array.from({ length: 1_100 }, (_, i) => {
      const time = new Date(1.7e12 + i * 1000).toISOString();
      const head = `category: patterns\nkey: note-${i}\ncreated_at: ${time}\nupdated_at: ${time}\n`;
      return [`note-${i}`, `---\n${head}---\nThe retry of src/part-${i}.ts waits.\n`] as const;
    });
    for (const [key, text] of files) repo.write(`.memory-bank/knowledge/patterns/${key}.md`, text);
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', 'Add notes');
    removeDigests();
    const input = (session: string) =>
      JSON.stringify({
        session_id: session,
        hook_event_name: 'PreToolUse',
        cwd: repo.root,
        tool_name: 'Read',
        tool_input: { file_path: repo.path('src/part-7.ts') },
      });
    // The processes that a hook starts write there when they end.
    const folder = newFolder();
    const act = (session: string) =>
      run(['hook', 'action'], input(session), { NODE_V8_COVERAGE: folder });
    expect([act('a'), act('b'), act('c')].map(({ stdout }) => stdout)).toEqual(['', '', '']);
    const isWhole = (name: string) => readFileSync(join(folder, name), 'utf8').includes('/cli.js"');
    const untilEnded = (count: number) => {
      const hasEnded = () => readdirSync(folder).filter(isWhole).length === count;
      return vi.waitUntil(hasEnded, { timeout: 60_000, interval: 100 });
    };
    await untilEnded(1);
    expect(readdirSync(folder)).toHaveLength(4);
    const { stdout, isQuick } = observe(['hook', 'action'], input('d'));
    expect({ isQuick, speaks: stdout.includes('The retry of src/part-7.ts waits') }).toEqual({
      isQuick: true,
      speaks: true,
    });
    // A brief answers at once, and leaves the digest to such a process as well.
    removeDigests();
    const start = JSON.stringify({
      session_id: 'e',
      hook_event_name: 'SessionStart',
      cwd: repo.root,
    });
    const begun = run(['hook', 'session-start'], start, { NODE_V8_COVERAGE: folder });
    expect(begun.stdout).toContain('One lock in src/lock.ts');
    // The hook itself, and the one that it has started.
    await untilEnded(3);
    expect(observe(['brief']).isQuick).toBe(true);
    rmSync(folder, { recursive: true });
  },
);
