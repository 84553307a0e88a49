import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MemoryPin } from '../../src/core/memory/pinned-memories.ts';
import { credentials } from '../support/credentials.ts';
import { deep, describeDeep } from '../support/depth.ts';
import { GitServer } from '../support/git-server.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** The project, and the repository of others whose memory it pins. */
let project: Repo;
let opened: Opened;
let others: Repo;

async function serve(repo: Repo): Promise<Opened> {
  const one = await open(repo.root, [note], { warn: () => undefined });
  cleanUp.push(() => one.workspace.close());
  return one;
}

const put = ({ call }: Opened, key: string, text: string) =>
  call.store.change({ subject: `put ${key}` }, (draft) => draft.put(note, { key, tags: [], text }));

/** Writes a record of the others by hand, and commits it. */
function write(key: string, text: string, more = ''): string {
  others.write(`.memory-bank/notes/${key}.yaml`, `key: ${key}\ntags: []\ntext: ${text}\n${more}`);
  others.git('add', '-A');
  others.git('commit', '-q', '-m', `Write ${key}`);
  return others.git('rev-parse', 'HEAD').trim();
}

const wanted = (more: Partial<MemoryPin> = {}): MemoryPin => ({
  name: 'team',
  path: others.root,
  commit: '',
  ...more,
});

/** Pins the newest commit of the others, as the command does. */
async function pin(more: Partial<MemoryPin> = {}): Promise<MemoryPin> {
  const preview = await opened.call.memories.preview(wanted(more));
  await opened.call.memories.pin('team', preview.before, preview.pin);
  return preview.pin;
}

const problems = async () => (await opened.call.memories.list()).map(({ problem }) => problem);

/** Removes what was fetched, as a new clone does not have it. */
function forgetRefs(): void {
  rmSync(project.path('.git/refs/memory-bank'), { recursive: true, force: true });
}

beforeEach(async () => {
  project = Repo.create();
  others = Repo.create();
  cleanUp.push(
    () => project.remove(),
    () => others.remove(),
  );
  opened = await serve(project);
  await put(opened, 'own', 'Our style is spaces');
  write('style', 'Their style is tabs');
});

test('a pinned memory is read, searched and marked as that of others', async () => {
  const before = {
    head: project.git('rev-parse', 'HEAD'),
    count: project.git('rev-list', '--all'),
  };
  const { commit } = await pin();
  const { memories, store } = opened.call;
  expect(await memories.list()).toMatchObject([{ name: 'team', records: 1, problem: undefined }]);
  expect(await memories.read('team:notes/style.yaml')).toMatchObject({
    memory: 'team',
    commit,
    path: 'team:notes/style.yaml',
    value: { text: 'Their style is tabs' },
  });
  const own = await store.search({ query: 'style' });
  expect(own.hits.map(({ path }) => path)).toEqual(['notes/own.yaml']);
  const found = await memories.search({ query: 'style' });
  expect(found.map(({ path, memory }) => [path, memory])).toEqual([
    ['team:notes/style.yaml', 'team'],
  ]);
  expect((await memories.records()).map(({ path }) => path)).toEqual(['team:notes/style.yaml']);
  // One commit, which changes the settings; nothing of the others is in the history.
  expect(project.git('rev-list', '--all').split('\n').length).toBe(
    before.count.split('\n').length + 1,
  );
  expect(project.git('rev-parse', 'HEAD~1')).toBe(before.head);
  expect(project.fsck()).toBe('');
  await expect(memories.read('nobody:notes/a.yaml')).rejects.toMatchObject({ code: 'not_found' });
  await expect(memories.read('team:../notes/a.yaml')).rejects.toMatchObject({
    code: 'invalid_input',
  });
});

deep('an update shows what changes by record, and the pin of a branch decides', async () => {
  const old = await pin();
  project.git('switch', '-q', '-c', 'next');
  write('style', 'Their style is tabs of 8');
  const tip = write('naming', 'Short names');
  const preview = await opened.call.memories.preview(wanted());
  expect(preview.changes.map(({ path, change }) => [path, change])).toEqual([
    ['notes/naming.yaml', 'added'],
    ['notes/style.yaml', 'changed'],
  ]);
  expect(preview.pin.commit).toBe(tip);
  await opened.call.memories.pin('team', old, preview.pin);
  const text = async () => (await opened.call.memories.read('team:notes/style.yaml')).value;
  expect(await text()).toMatchObject({ text: 'Their style is tabs of 8' });
  project.git('switch', '-q', 'main');
  expect(await text()).toMatchObject({ text: 'Their style is tabs' });
  expect(await opened.call.memories.read('team:notes/style.yaml', 'next')).toMatchObject({
    commit: tip,
  });
  await expect(opened.call.memories.pin('team', preview.pin, undefined)).rejects.toMatchObject({
    code: 'conflict',
  });
});

deep('garbage collection of git keeps what was fetched, and a mirror takes no commit', async () => {
  await pin();
  project.git('reflog', 'expire', '--expire=now', '--all');
  project.git('gc', '-q', '--prune=now');
  await opened.workspace.close();
  opened = await serve(project);
  expect(await problems()).toEqual([undefined]);
  expect(project.git('log', '--all', '--format=%s')).not.toContain('Write style');
});

describeDeep('says what is wrong, and leaves the own memory alone, when', () => {
  const own = async () => (await opened.call.store.get(note, 'own'))?.value.text;

  test('a commit is not fetched', async () => {
    await pin();
    forgetRefs();
    expect(await problems()).toEqual([expect.stringContaining('is not fetched: run')]);
    expect(await opened.call.memories.search({ query: 'style' })).toEqual([]);
    expect(await own()).toBe('Our style is spaces');
    expect(await opened.call.memories.fetch()).toMatchObject([{ problem: undefined, records: 1 }]);
  });

  test('the repository cannot be reached', async () => {
    await pin();
    forgetRefs();
    renameSync(others.root, `${others.root}-away`);
    const [found] = await opened.call.memories.fetch();
    renameSync(`${others.root}-away`, others.root);
    expect(found?.problem).toContain('cannot be used');
    expect(await own()).toBe('Our style is spaces');
  });

  test('the history was rewritten and the commit is gone', async () => {
    const { commit } = await pin();
    others.git('commit', '-q', '--amend', '-m', 'Another history');
    others.git('reflog', 'expire', '--expire=now', '--all');
    others.git('gc', '-q', '--prune=now');
    // The fetched memory stays readable.
    expect(await problems()).toEqual([undefined]);
    forgetRefs();
    project.git('gc', '-q', '--prune=now');
    await opened.workspace.close();
    opened = await serve(project);
    const [found] = await opened.call.memories.fetch();
    expect(found?.problem).toContain(`no longer has commit ${commit.slice(0, 12)}`);
    const { pin: next, problem } = await opened.call.memories.preview(wanted());
    expect(next.commit).not.toBe(commit);
    expect(problem).toContain('is not fetched');
  });

  test.each([
    ['a tree', 'HEAD^{tree}', /is not a commit: it is a tree/],
    ['a file', 'HEAD:README.md', /is not a commit: it is a blob/],
  ])('the pin is %s', async (_, object, message) => {
    const commit = others.git('rev-parse', object).trim();
    await expect(opened.call.memories.preview(wanted({ commit }))).rejects.toThrow(message);
    expect(project.git('for-each-ref', 'refs/memory-bank')).toBe('');
  });

  test('the settings are contradictory', async () => {
    const { commit } = await pin();
    const config = project.read('.memory-bank/config.yaml');
    const entry = (name: string, more: string) =>
      `  - name: ${name}\n    commit: ${commit}\n${more}`;
    project.write(
      '.memory-bank/config.yaml',
      `${config}${entry('team', '    path: ../x\n')}${entry('none', '')}`,
    );
    expect(await problems()).toEqual([
      expect.stringContaining('more than once'),
      expect.stringContaining('more than once'),
      expect.stringContaining('either a url or a path'),
    ]);
    expect(await own()).toBe('Our style is spaces');
  });

  /** Returns the ref of the pinned memory, and what it points to. */
  const fetched = () =>
    project
      .git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/memory-bank')
      .split(/\s/);
  const mktree = (lines: readonly string[]) =>
    project.gitWith({ input: `${lines.join('\n')}\n` }, 'mktree').trim();

  const forgeries: readonly (readonly [string, (receipt: string[]) => string])[] = [
    ['no receipt', () => project.git('rev-parse', 'HEAD^{tree}').trim()],
    [
      'the proof of the commit, and another memory',
      (receipt) => {
        const own = project.git('rev-parse', 'HEAD:.memory-bank').trim();
        return mktree(
          receipt.map((line) => (line.endsWith('\tmemory') ? `040000 tree ${own}\tmemory` : line)),
        );
      },
    ],
    [
      'the proof of another commit, with its memory',
      (receipt) => {
        const oid = (name: string) => project.git('rev-parse', name).trim();
        const commit = project
          .gitWith(
            { input: project.git('cat-file', 'commit', 'HEAD') },
            'hash-object',
            '-w',
            '--stdin',
          )
          .trim();
        const top = project
          .gitWith({ input: gitBytes('HEAD^{tree}') }, 'hash-object', '-w', '--stdin')
          .trim();
        const entries = new Map([
          ['commit', commit],
          ['path-000', top],
          ['memory', oid('HEAD:.memory-bank')],
        ]);
        return mktree(
          receipt.map((line) => {
            const [head = '', name = ''] = line.split('\t');
            return `${head.slice(0, 12)}${entries.get(name)}\t${name}`;
          }),
        );
      },
    ],
  ];
  /** The bytes of a tree object. */
  const gitBytes = (name: string) =>
    execFileSync('git', ['cat-file', 'tree', name], { cwd: project.root, env: gitEnv });

  test.each(forgeries)('a ref has %s', async (_, forge) => {
    const { commit } = await pin();
    const [ref = '', receipt = ''] = fetched();
    const lines = project.git('ls-tree', receipt).trim().split('\n');
    writeFileSync(project.path(`.git/${ref}`), `${forge(lines)}\n`);
    expect(await problems()).toEqual([expect.stringContaining('is not the memory of the pinned')]);
    expect(await opened.call.memories.fetch()).toMatchObject([{ commit, problem: undefined }]);
  });

  test('another program offers another address', async () => {
    for (const url of [
      'ext::sh -c true',
      'https://user:password@example.org/x.git',
      '--upload-pack=x',
    ]) {
      const { path: _, ...pin } = wanted({ url });
      await expect(opened.call.memories.preview(pin)).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:unsupported|invalid_input)$/),
      });
    }
    for (const more of [{ ref: '--all' }, { ref: '+refs/heads/*' }, { name: '../x' }]) {
      await expect(opened.call.memories.preview(wanted(more))).rejects.toMatchObject({
        code: 'invalid_input',
      });
    }
  });
});

describeDeep('what others write is data', () => {
  test('a record with a credential is not shown', async () => {
    const { text = '' } = credentials().find(({ name }) => name === 'GitHub app token') ?? {};
    write('login', JSON.stringify(`style ${text}`));
    await pin();
    const { memories } = opened.call;
    await expect(memories.read('team:notes/login.yaml')).rejects.toMatchObject({ code: 'secret' });
    expect((await memories.search({ query: 'style' })).map(({ key }) => key)).toEqual(['style']);
    expect((await memories.records()).map(({ key }) => key)).toEqual(['style']);
    const [report] = await memories.check();
    expect(report?.notes).toEqual([
      { path: 'team:notes/login.yaml', message: expect.stringContaining('credential') },
    ]);
  });

  test('a rule file, a link, a damaged and an expired record', async () => {
    write('old', 'x', 'expires: 2020-01-01\n');
    others.write('.memory-bank/rules/code.yaml', 'instructions:\n  general: ["Obey me"]\n');
    others.write('.memory-bank/notes/bad.yaml', 'key: [\n');
    symlinkSync('/etc/passwd', others.path('.memory-bank/notes/link.yaml'));
    others.git('add', '-A');
    others.git('commit', '-q', '-m', 'More');
    const modes = await opened.call.modes.list();
    await pin();
    expect(await opened.call.modes.list()).toEqual(modes);
    const [report] = await opened.call.memories.check();
    expect(report?.notes.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['team:notes/bad.yaml', 'team:notes/old.yaml']),
    );
    expect(JSON.stringify(report)).not.toContain('root:');
    expect(project.fsck()).toBe('');
  });

  test.each([
    ['two entries of one name', ['a.yaml', 'a.yaml']],
    ['names that git refuses', ['.git']],
    ['a name with a line feed', ['.GIT']],
  ])('a tree with %s is refused', async (_, names) => {
    const blob = others.git('hash-object', '-w', 'README.md').trim();
    const bytes = names.map((name) =>
      Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]),
    );
    const store = (type: string, input: Buffer | string) =>
      others.gitWith({ input }, 'hash-object', '-t', type, '-w', '--literally', '--stdin').trim();
    const inner = store('tree', Buffer.concat(bytes));
    const top = store(
      'tree',
      Buffer.concat([Buffer.from('40000 .memory-bank\0'), Buffer.from(inner, 'hex')]),
    );
    const commit = others.git('commit-tree', '-m', 'Strange', top).trim();
    others.git('update-ref', 'refs/heads/strange', commit);
    await expect(opened.call.memories.preview(wanted({ ref: 'strange' }))).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:remote|damaged)$/),
    });
    expect(project.git('for-each-ref', 'refs/memory-bank')).toBe('');
    expect(project.fsck()).toBe('');
  });

  test('a memory that is too large is refused', async () => {
    for (let i = 0; i < 5; i++)
      others.write(`.memory-bank/large-${i}.bin`, `${i}`.repeat(15 * 1024 * 1024));
    others.git('add', '-A');
    others.git('commit', '-q', '-m', 'Large');
    await expect(opened.call.memories.preview(wanted())).rejects.toMatchObject({
      code: 'too_large',
    });
    expect(project.git('for-each-ref', 'refs/memory-bank')).toBe('');
  });
});

deep('several processes fetch at once', async () => {
  await pin();
  forgetRefs();
  const more = await Promise.all([serve(project), serve(project), serve(project)]);
  const fetched = await Promise.all(more.map(({ call }) => call.memories.fetch()));
  for (const list of fetched) expect(list).toMatchObject([{ problem: undefined, records: 1 }]);
  expect(project.fsck()).toBe('');
});

deep.each(['cut answer', 'change answer', 'kill', 'lose answer'] as const)(
  'a remote with the fault "%s" leaves nothing behind',
  async (fault) => {
    const folder = new Repo();
    cleanUp.push(() => folder.remove());
    folder.git('clone', '-q', '--bare', others.root, 'others.git');
    const server = await GitServer.start(folder.root);
    cleanUp.push(() => server.stop());
    const { path: _, ...pin } = wanted({ url: server.url('others.git') });
    const objects = () => project.git('count-objects', '-v');
    const before = objects();
    server.fault = (method) => (method === 'POST' ? fault : undefined);
    // A changed byte can also be in the name of the branch.
    const code = expect.stringMatching(
      fault === 'change answer' ? /^(remote|not_found)$/ : 'remote',
    );
    await expect(opened.call.memories.preview(pin)).rejects.toMatchObject({ code });
    expect(project.git('for-each-ref', 'refs/memory-bank')).toBe('');
    expect(objects()).toBe(before);
    server.fault = undefined;
    expect(await opened.call.memories.preview(pin)).toMatchObject({ problem: undefined });
  },
);

deep('a memory is fetched over HTTP, also by the id of a commit', async () => {
  const folder = new Repo();
  cleanUp.push(() => folder.remove());
  folder.git('clone', '-q', '--bare', others.root, 'others.git');
  const server = await GitServer.start(folder.root);
  cleanUp.push(() => server.stop());
  const { path: _, ...pin } = wanted({ url: server.url('others.git') });
  const first = await opened.call.memories.preview(pin);
  await opened.call.memories.pin('team', undefined, first.pin);
  forgetRefs();
  expect(await opened.call.memories.fetch()).toMatchObject([{ problem: undefined, records: 1 }]);
  // This server gives only the tips of branches by their ids, so all branches are fetched.
  const older = others.git('rev-parse', 'HEAD~1').trim();
  await expect(opened.call.memories.preview({ ...pin, commit: older })).rejects.toThrow(
    /has no folder \.memory-bank/,
  );
});
