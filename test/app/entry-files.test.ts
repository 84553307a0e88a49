import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chosenLayout } from '../../src/cli/setup/chosen-layout.ts';
import { deep, sample } from '../support/depth.ts';
import { LayoutMemory } from '../support/layout-memory.ts';
import { Repo } from '../support/repo.ts';

const config = '.memory-bank/config.yaml';

/** An answer without what differs between two runs of the same calls. */
function plain(answer: string, { repo }: LayoutMemory): string {
  return (
    answer
      .replaceAll(repo.root, '<root>')
      // The restoration of a section leaves a blank line more in a log.
      .replaceAll('\\n\\n\\n', '\\n\\n')
      .replace(/\b[0-9a-f]{7,40}\b/g, '<id>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/"session":"\w+"/g, '"session":"<session>"')
  );
}

const log = 'decisionLog.md';
const readings: readonly (readonly [tool: string, args?: object])[] = [
  ['blame_record', { path: log }],
  ['record_history', { path: `${log}#Wait` }],
  ['search_memory', { query: 'poll the lock' }],
  ['Decision_Log'],
  ['Decision_Log', { section: 'Wait' }],
  ['Progress'],
  ['Active_Context'],
  ['read_memory_bank_file', { filename: log, section: 'Wait > Decision' }],
  ['read_memory_bank_file', { filename: 'decision-log.md' }],
  ['read_memory_bank_file', { filename: 'decisionLog/x.md' }],
  ['list_memory_bank_files'],
  ['search_memory', { query: 'wait', path: log }],
  ['get_context'],
  ['get_context', { files: ['src/lock.ts'] }],
  ['record_history', { path: log }],
  ['record_history', { path: 'progress.md' }],
];
/** Those that name a revision, which a conversion moves. */
const pastReadings: typeof readings = [
  ['read_as_of', { path: log, revision: 'HEAD~2' }],
  ['search_as_of', { query: 'poll', revision: 'HEAD~2' }],
  ['diff_memory', { from: 'HEAD~3', to: 'HEAD' }],
];

describe('a memory whose log entries are files', () => {
  let single: LayoutMemory;
  let files: LayoutMemory;
  beforeEach(async () => {
    [single, files] = [await LayoutMemory.in('log'), await LayoutMemory.in('entries')];
  });
  afterEach(async () => {
    await single.close();
    await files.close();
  });

  /** Calls a tool in both memories, and compares the answers. */
  async function same(tool: string, args: object = {}): Promise<string> {
    const answers = [];
    for (const memory of [single, files])
      answers.push(plain(await memory.call(tool, args), memory));
    expect(answers[1], `${tool} ${JSON.stringify(args)}`).toBe(answers[0]);
    return answers[0] ?? '';
  }

  async function readAll(): Promise<void> {
    for (const [tool, args] of [...readings, ...pastReadings]) await same(tool, args);
  }

  deep('answers every tool as one whose logs are single files', async () => {
    const decide = (title: string, more: object = {}) =>
      same('log_decision', { title, context: 'Why', decision: `Do ${title}.`, ...more });
    await decide('Poll', { evidence: ['src/lock.ts:1-3'] });
    await decide('Wait', { supersedes: ['Poll'], alternatives: ['Sleep'] });
    await decide('wait 😀');
    await decide('Wait');
    for (const one of ['one', 'two\nlines', 'three']) {
      await same('track_progress', { action: 'Fix', description: one });
    }
    await same('update_active_context', { tasks: ['A task'], nextSteps: ['A step'] });
    await readAll();
    expect(files.files.filter((path) => path.includes('decisionLog'))).toHaveLength(5);
    for (const { repo } of [single, files]) repo.write('src/lock.ts', 'lock()\nunlock()\n');
    for (const memory of [single, files]) memory.commit('Do not wait');
    await readAll();
    await same('forget_memory', { record: log, section: 'wait 😀', reason: 'Wrong' });
    await same('forget_memory', { record: 'progress.md', section: 'Fix: one', reason: 'Wrong' });
    await readAll();
    await same('restore_memory', { path: log, revision: 'HEAD~2' });
    await readAll();
    const text = (await files.call('Decision_Log')).replace(/## wait.*?(?=## )/s, '');
    const content = text.replace('Do Poll.', 'Do not poll.');
    await same('write_memory_bank_file', { filename: log, content });
    await readAll();
    await same('write_memory_bank_file', { filename: 'progress.md', content: 'None\n' });
    await same('Progress');
    await same('restore_memory', { path: `${log}#Poll`, revision: 'HEAD~5' });
    await same('Decision_Log');
    // A log gets a blank line more, so the numbers of its lines differ.
    await same('verify_memory', { path: `${log}#Poll`, evidence: ['src/lock.ts:1-2'] });
    await same('Decision_Log');
    expect(files.files.some((path) => path.includes('progress/'))).toBe(false);
  });

  test('keeps its history over conversions in both directions', async () => {
    const asked = sample(readings, 5);
    for (const title of ['One', 'Two', 'Three'])
      await same('log_decision', { title, context: 'c', decision: 'd' });
    await same('track_progress', { action: 'Fix', description: 'it' });
    const answers = async () => {
      const all: string[] = [];
      for (const [tool, args] of asked) all.push(plain(await files.call(tool, args), files));
      return all;
    };
    const before = await answers();
    for (const to of ['log', 'entries'] as const) {
      await files.convert(to);
      expect(await answers()).toEqual(before);
      expect(await files.convert(to)).toBeUndefined();
    }
  });
});

test('an entry file is changed as a part of its log only', async () => {
  const memory = await LayoutMemory.in('entries');
  await memory.decide('One');
  const path =
    memory.files.find((one) => one.includes('decisionLog/'))?.slice('.memory-bank/'.length) ?? '';
  for (const filename of [path, 'decisionLog/new.md', 'progress/new.md']) {
    const answer = await memory.call('write_memory_bank_file', { filename, content: '## X\n' });
    expect(answer).toContain('is an entry of');
    expect(await memory.call('read_memory_bank_file', { filename })).toContain('no file');
  }
  for (const tool of ['read_as_of', 'blame_record', 'restore_memory', 'verify_memory']) {
    expect(await memory.call(tool, { path, revision: 'HEAD' })).toMatch(
      /not_found|no record|no file/i,
    );
  }
  await memory.close();
});

deep('files that people have written, moved and named are read as entries', async () => {
  const memory = await LayoutMemory.in('entries');
  await memory.decide('One');
  const own = '.memory-bank/decisionLog';
  memory.repo.write(`${own}/2026-01-02-no-heading.md`, 'Just a text.\n');
  memory.repo.write(
    `${own}/2026-01-03-two.md`,
    '## A - 2026-01-03\n\na\n\n## B - 2026-01-03\n\nb\n',
  );
  memory.repo.write(`${own}/moved/2026-01-04-c.md`, '# C\n\nc\n');
  memory.repo.write(`${own}/renamed.md`, '## D\n\nd\n');
  memory.repo.write('.memory-bank/progress/2026-01-05-me.md', 'Did something\n');
  memory.commit('By hand');
  const text = await memory.call('Decision_Log');
  for (const heading of ['no heading - 2026-01-02', 'A - 2026-01-03', 'B - 2026-01-03', 'C', 'D']) {
    expect(text).toContain(`## ${heading}\\n`);
  }
  expect(await memory.call('Progress')).toContain('- [2026-01-05] - Note: Did something');
  await memory.decide('Two');
  const changed = memory.repo.git('show', '--name-only', '--format=', 'HEAD').trim().split('\n');
  expect(changed).toEqual([expect.stringMatching(/decisionLog\/.*-two-\w{6}\.md$/)]);
  await memory.call('forget_memory', { record: log, section: 'A', reason: 'r' });
  expect(memory.repo.read(`${own}/2026-01-03-two.md`)).toBe('## B - 2026-01-03\n\nb\n');
  await memory.close();
});

deep('a finding about an entry names the file and the line where a person mends it', async () => {
  const memory = await LayoutMemory.in('entries');
  const { repo } = memory;
  await memory.decide('First');
  await memory.decide('Poll', { evidence: ['src/lock.ts:1-3'] });
  const key = `AKIA${'Q3EGRZ7Y5WXN2KLM'}`;
  repo.write('.memory-bank/progress/2026-01-05-me.md', `\n\n- Nothing\n\n- The key is ${key}\n`);
  repo.write('.memory-bank/decisionLog/2026-01-02-bare.md', `\nA text.\n\nIts key: ${key}\n`);
  repo.write('.memory-bank/decisionLog.md', `# Decision Log\n\n## No date\n\n${key}\n`);
  repo.write('src/lock.ts', 'lock()\nunlock()\n');
  memory.commit('By hand');
  const found = await memory.findings();
  const stored = found.map((one) => one.stored);
  expect(stored.filter((one) => one).length).toBeGreaterThan(4);
  for (const place of stored) {
    if (!place) continue;
    const line = repo.read(`.memory-bank/${place.path}`).split('\n')[place.line - 1];
    expect(line, JSON.stringify(place)).toMatch(/AKIA|src\/lock\.ts/);
  }
  const paths = new Set(stored.flatMap((one) => (one ? [one.path.replace(/-\w{6}\.md/, '')] : [])));
  expect([...paths].sort()).toEqual([
    'decisionLog.md',
    'decisionLog/2026-01-02-bare.md',
    expect.stringMatching(/^decisionLog\/\d{4}-\d\d-\d\d-2-poll$/),
    'progress/2026-01-05-me.md',
  ]);
  await memory.close();
});

deep('a layout is not chosen over files of other kinds, nor during a merge', async () => {
  const memory = await LayoutMemory.in('log');
  await memory.call('write_memory_bank_file', { filename: 'decisionLog/mine.md', content: 'x\n' });
  await expect(memory.convert('entries')).rejects.toThrow('decisionLog/mine.md would be read');
  memory.repo.git('rm', '-q', '.memory-bank/decisionLog/mine.md');
  memory.commit('Remove it');
  const base = memory.repo.git('rev-parse', 'HEAD');
  memory.repo.write('.git/MERGE_HEAD', `${base}\n`);
  await expect(memory.convert('entries')).rejects.toMatchObject({ code: 'busy' });
  memory.repo.git('merge', '--quit');
  expect(await memory.convert('entries')).toBeDefined();
  expect(memory.repo.read(config)).toMatch(/^format: 2$.*^layout: entries$/ms);
  await memory.close();
});

test('a setup offers the layout to a new memory with a remote, and changes none unasked', async () => {
  const memory = new LayoutMemory();
  const { app, repo, session } = memory;
  const chosen = (layout?: string) =>
    chosenLayout({ app, values: { layout } }, repo.root, session, {}, false);
  const [nothing, entries] = [{ notes: [] }, { to: 'entries' }];
  expect(await chosen()).toEqual(nothing);
  repo.git('remote', 'add', 'origin', 'https://example.org/project.git');
  const offer =
    '^Servers merge .* line by line, .*: "--layout entries" stores each entry as a file';
  expect((await chosen()).notes).toEqual([expect.stringMatching(offer)]);
  expect(await chosen('entries')).toMatchObject(entries);
  await memory.call('initialize_memory_bank', { path: repo.root });
  await memory.decide('One');
  expect(await chosen()).toEqual(nothing);
  expect(await chosen('log')).toEqual(nothing);
  expect(await chosen('entries')).toMatchObject({
    ...entries,
    notes: [expect.stringContaining('1 decision and 0')],
  });
  await memory.convert('entries');
  expect(await chosen('entries')).toEqual(nothing);
  await memory.close();
});

describe('branches with different layouts', () => {
  /** A clone with an own branch of the memory, and its upstream. */
  async function joined(first: 'log' | 'entries', then: 'log' | 'entries') {
    const memory = await LayoutMemory.in(first);
    const { repo } = memory;
    await memory.decide('Base');
    await memory.call('track_progress', { action: 'Fix', description: 'base' });
    const upstream = new Repo();
    upstream.git('init', '-q', '--bare', '-b', 'main', '.');
    repo.git('remote', 'add', 'origin', upstream.root);
    repo.git('push', '-q', '-u', 'origin', 'main');
    repo.git('checkout', '-q', '-b', 'theirs');
    await memory.decide('Theirs');
    await memory.call('track_progress', { action: 'Fix', description: 'theirs' });
    repo.git('push', '-q', 'origin', 'theirs:main');
    repo.git('checkout', '-q', 'main');
    await memory.convert(then);
    await memory.decide('Ours');
    await memory.call('track_progress', { action: 'Fix', description: 'ours' });
    return { memory, upstream };
  }

  const directions = [
    ['log', 'entries'],
    ['entries', 'log'],
  ] as const;
  deep.each(directions)(
    'merge by a sync into one layout: one from before a conversion from %s to %s',
    async (first, then) => {
      const { memory, upstream } = await joined(first, then);
      expect(await memory.call('sync_memory')).toContain('"success":true');
      const text = await memory.call('Decision_Log');
      for (const title of ['Base', 'Theirs', 'Ours']) {
        expect(text.match(new RegExp(`## ${title} - `, 'g')), title).toHaveLength(1);
      }
      const progress = await memory.call('Progress');
      for (const one of ['base', 'theirs', 'ours']) {
        expect(progress.match(new RegExp(`Fix: ${one}\\b`, 'g')), one).toHaveLength(1);
      }
      expect(memory.files.filter((path) => path.includes('decisionLog'))).toHaveLength(
        then === 'entries' ? 4 : 1,
      );
      expect(await memory.convert(then)).toBeUndefined();
      await memory.close();
      upstream.remove();
    },
  );

  deep("entries that a server's merge has left in a log are read, found, and moved", async () => {
    const { memory, upstream } = await joined('log', 'entries');
    const { repo } = memory;
    const [base = ''] = memory.files.filter((path) => path.includes('-base-'));
    const followed = repo.git('log', '--follow', '-M001', '--format=%s', '--', base);
    expect(followed).toContain('memory: log decision "Base"\n');
    // Without it the story ends at the conversion, which names the command.
    const story = repo.git('log', '--format=%s%n%b', '--', base);
    expect(story).toMatch(/store log entries as files.*"git log --follow -M001 -- <its file>"/s);
    const header = '# Decision Log\n';
    repo.write('.memory-bank/decisionLog.md', `${header}\n## Theirs - 2026-01-02\n\nDo it.\n`);
    repo.write(
      '.memory-bank/progress.md',
      repo
        .read('.memory-bank/progress.md')
        .replace(/(?<=## Update History\n)/, '\n- [2026-01-02] - Fix: theirs\n'),
    );
    memory.commit('Merge line by line');
    expect((await memory.call('Decision_Log')).match(/## (?:Base|Ours|Theirs) - /g)).toHaveLength(
      3,
    );
    expect(await memory.call('Progress')).toContain('Fix: theirs');
    expect(await memory.call('Active_Context')).toContain('Fix: theirs');
    const found = await memory.check();
    expect(found).toContain('Entries in the wrong layout');
    expect(found).toContain('memory-bank layout entries');
    const merged = repo.git('rev-parse', 'HEAD').trim();
    await memory.decide('Next');
    await memory.call('track_progress', { action: 'Fix', description: 'next' });
    expect(await memory.check()).not.toContain('wrong layout');
    const moved = (path: string) => /theirs|merged/.test(path);
    const paths = memory.files.filter(moved);
    expect(paths.map((path) => path.replace(/-\w{6}\.md$/, ''))).toEqual([
      '.memory-bank/decisionLog/2026-01-02-theirs',
      '.memory-bank/progress/2026-01-02-merged',
    ]);
    repo.git('reset', '-q', '--hard', merged);
    expect(await memory.convert('entries')).toBeDefined();
    expect(memory.files.filter(moved)).toEqual(paths);
    expect(repo.read('.memory-bank/decisionLog.md')).toBe(header);
    expect((await memory.call('Decision_Log')).match(/## (?:Base|Ours|Theirs) - /g)).toHaveLength(
      3,
    );
    expect(await memory.check()).not.toContain('wrong layout');
    await memory.close();
    upstream.remove();
  });
});

deep('a rule of a mode for a log holds for its entries, on every way to them', async () => {
  const memory = await LayoutMemory.in('entries');
  memory.repo.write(
    '.memory-bank/rules/scribe.yaml',
    'mode: scribe\ninstructions:\n  general: []\n  memory_bank:\n    files_to_update: ["progress.md", "decisionLog/**"]\n',
  );
  memory.commit('Add a mode');
  expect(await memory.call('switch_mode', { mode: 'scribe' })).toContain('success');
  expect(await memory.decide('One')).toMatch(/may not change decisionLog.md/);
  expect(
    await memory.call('track_progress', {
      action: 'Fix',
      description: 'it',
      updateActiveContext: false,
    }),
  ).toContain('success');
  const filename = 'decisionLog/2026-01-02-x.md';
  expect(await memory.call('write_memory_bank_file', { filename, content: '## X\n' })).toMatch(
    /may not change/,
  );
  await memory.close();
});
