import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AnnotationChanges } from '../../src/core/evidence/annotations.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';
import { deep } from '../support/depth.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let opened: Opened;

beforeEach(async () => {
  repo = Repo.create();
  repo.write('src/lock.ts', 'one\ntwo\n');
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Begin');
  opened = await open(repo.root, [memoryFile, entryRecord]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

const at = '2026-01-01T00:00:00.000Z';

/** Writes a decision, and returns its path. */
async function decide(key: string, value: string, changes: AnnotationChanges = {}) {
  return opened.call.store.change({ subject: `decide ${key}` }, async (tx) => {
    const entry = { category: 'decisions' as const, key, value, created_at: at, updated_at: at };
    const { path } = await tx.put(entryRecord, entry);
    await tx.annotate(path, changes);
    return path;
  });
}

const write = (path: string, content: string) =>
  opened.call.store.change({ subject: `write ${path}` }, (tx) =>
    tx.put(memoryFile, { path, content }),
  );

/** The findings as `path: message`. */
async function findings(request = {}): Promise<string[]> {
  const { records } = await opened.call.history.evidence(request);
  return records.flatMap(({ path, findings }) =>
    findings.flatMap((one) => (one.kind === 'evidence' ? [] : [`${path}: ${one.message}`])),
  );
}

test('two records that supersede one, and one that does not know it, are named', async () => {
  const old = await decide('old', 'Poll.');
  const a = await decide('a', 'Wait.', { supersedes: [old] });
  const b = await decide('b', 'Sleep.', { supersedes: [old] });
  expect(await findings()).toEqual([
    `${a}: It supersedes ${old}, as ${b} does.`,
    `${b}: It supersedes ${old}, as ${a} does.`,
    `${old}: ${a} supersedes it, but it does not say so.`,
  ]);
  await decide('b', 'Sleep.', { supersedes: null });
  await decide('old', 'Poll.', { supersededBy: a });
  expect(await findings()).toEqual([]);
  await decide('old', 'Poll.', { supersededBy: 'knowledge/decisions/none.md' });
  const { records, counts } = await opened.call.history.evidence({});
  expect(counts).toMatchObject({ broken: 1 });
  expect(records[0]?.findings).toEqual([
    {
      kind: 'broken',
      line: 6,
      severity: 'error',
      records: ['knowledge/decisions/none.md'],
      message: 'It was superseded by knowledge/decisions/none.md, which does not exist.',
      mend: `memory-bank edit ${old}`,
    },
  ]);
});

deep(
  'a live record that names a superseded one is found, and one that is superseded itself is not',
  async () => {
    const now = await decide('now', 'Wait.');
    const old = await decide('old', 'Poll.', { supersededBy: now });
    const link = await decide('link', `As [the old one](../../${old}) says.`);
    await decide('gone', `See ${old}.`, { supersededBy: now });
    expect(await findings()).toEqual([`${link}: It names ${old}, which ${now} supersedes.`]);
  },
);

deep('two decisions of one title, in one file and in two', async () => {
  const path = await decide('Use locks!', 'Wait.');
  const log = (...titles: string[]) =>
    write('decisionLog.md', titles.map((one) => `## ${one} - 2026-01-01\n\nYes.\n`).join('\n'));
  await log('Use git', 'Use  Git');
  expect(await findings()).toEqual([
    'decisionLog.md: Its decision "use git" has the heading of an earlier one, which hides it.',
  ]);
  await write(
    'decisionLog.md',
    '## Use git - 2026-01-01\n\nYes.\n\n## Use git - 2026-01-02\n\nYes.\n',
  );
  expect(await findings()).toEqual([
    'decisionLog.md: Its decision "use git" is also in the same file.',
  ]);
  await log('use locks');
  expect(await findings()).toEqual([
    `decisionLog.md: Its decision "use locks" is also in ${path}.`,
    `${path}: Its decision "use locks" is also in decisionLog.md.`,
  ]);
});

test('a decision of a log that another one of the same log replaces', async () => {
  const section = (title: string, text: string) => `## ${title} - 2026-01-01\n\n${text}\n\n`;
  const log = (...sections: string[]) =>
    write('decisionLog.md', `# Decision Log\n\n${sections.join('')}`);
  const link = '[Poll](#poll---2026-01-01)';
  const address = 'decisionLog.md#Wait - 2026-01-01';
  await log(section('Poll', 'Often.'), section('Wait', `Supersedes ${link}`));
  expect(await findings()).toEqual([
    `decisionLog.md: ${address} supersedes its section "Poll - 2026-01-01", but it does not say so.`,
  ]);
  const poll = section('Poll', 'Superseded by [Wait](#wait---2026-01-01)');
  await log(poll, section('Wait', `Supersedes ${link}`));
  expect(await findings()).toEqual([]);
  // The new decision can have the title of the old one.
  const again = section('Poll', 'Superseded by [Poll](#poll---2026-01-01-1)');
  await log(again, section('Poll', `Supersedes ${link}`));
  expect(await findings()).toEqual([]);
  await log(poll, section('Wait', `Supersedes ${link}`), section('Sleep', `Supersedes ${link}`));
  expect(await findings()).toEqual([
    'decisionLog.md: Its section "Wait - 2026-01-01" supersedes decisionLog.md#Poll - 2026-01-01, as decisionLog.md#Sleep - 2026-01-01 does.',
    'decisionLog.md: Its section "Sleep - 2026-01-01" supersedes decisionLog.md#Poll - 2026-01-01, as decisionLog.md#Wait - 2026-01-01 does.',
  ]);
  await log(poll);
  expect(await findings()).toEqual([
    'decisionLog.md: Its section "Poll - 2026-01-01" was superseded by decisionLog.md#wait---2026-01-01, which does not exist.',
  ]);
  await log(poll, section('Wait', `Supersedes ${link}`));
  const linked = await decide('linked', 'As [decided](../../decisionLog.md#poll---2026-01-01).');
  await decide('fine', 'As [decided](../../decisionLog.md#wait---2026-01-01) in decisionLog.md.');
  const named = `It names decisionLog.md#Poll - 2026-01-01, which ${address} supersedes.`;
  expect(await findings()).toEqual([`${linked}: ${named}`]);
  expect([...(await opened.call.store.cautions([linked]))]).toEqual([[linked, [named]]]);
  const { hits } = await opened.call.store.search({ query: 'poll often', limit: 1 });
  expect(hits[0]).toMatchObject({ path: 'decisionLog.md' });
  const [old] = (await opened.call.store.cautions(['decisionLog.md#Poll - 2026-01-01'])).values();
  expect(old).toEqual([`Its section "Poll - 2026-01-01" was superseded by ${address}.`]);
});

test('a link to a record or section that does not exist, and not one that was removed', async () => {
  const old = await decide('old', 'Poll.');
  const path = await decide('now', 'Wait.', { supersedes: [old, 'knowledge/decisions/typo.md'] });
  const broken = `${path}: It supersedes knowledge/decisions/typo.md, which does not exist.`;
  await decide('old', 'Poll.', { supersededBy: path });
  expect(await findings()).toEqual([broken]);
  await opened.call.store.change({ subject: 'remove it' }, (tx) =>
    tx.remove(entryRecord, 'decisions/old'),
  );
  expect(await findings()).toEqual([broken]);
  await decide('now', 'Wait.', { supersedes: [old] });
  expect(await findings()).toEqual([]);
  await decide('now', 'Wait.', { supersedes: [old, 'decisionLog.md#Gone'] });
  await write('decisionLog.md', '# Decision Log\n\n## Use git - 2026-01-01\n\nYes.\n');
  expect(await findings()).toEqual([
    `${path}: It supersedes decisionLog.md#Gone, which does not exist.`,
  ]);
});

test('conflict markers in a text that can be read, and not in a block of code', async () => {
  const markers = '<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n';
  await write('notes.md', `# Notes\n\n~~~\n${markers}~~~\n\n\`\`\`text\n${markers}\`\`\`\n`);
  expect(await findings()).toEqual([]);
  await write('notes.md', `# Notes\n\n${markers}`);
  const { records } = await opened.call.history.evidence({});
  expect(records).toMatchObject([
    {
      path: 'notes.md',
      findings: [
        { kind: 'conflict', severity: 'error', line: 3, mend: 'memory-bank edit notes.md' },
      ],
    },
  ]);
});

test('rule files that cannot be used, in both folders', async () => {
  repo.write('.clinerules-ask', '{"mode": "ask"');
  repo.write('.memory-bank/rules/code.yaml', 'mode: code\nmode: code\n');
  repo.write('.memory-bank/rules/test.json', '{"mode": "debug", "instructions": {"general": []}}');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'Add rules');
  const { records, counts } = await opened.call.history.evidence({});
  expect(counts).toMatchObject({ rule: 3 });
  expect(records.map(({ path, findings }) => [path, findings[0]?.severity])).toEqual([
    ['../.clinerules-ask', 'error'],
    ['rules/code.yaml', 'error'],
    ['rules/test.json', 'error'],
  ]);
  expect((await opened.call.history.evidence({ since: 'HEAD' })).records).toEqual([]);
  expect((await opened.call.history.evidence({ since: 'HEAD~1' })).records).toHaveLength(3);
});

test('files that would be records under another extension', async () => {
  const path = await decide('a', 'Wait.');
  const written = repo.read(`.memory-bank/${path}`);
  repo.write('.memory-bank/knowledge/decisions/b.markdown', written.replace('key: a', 'key: b'));
  repo.write('.memory-bank/knowledge/decisions/picture.svg', '<svg/>');
  repo.write('.memory-bank/knowledge/decisions/data.yml', 'a: 1\n');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'Add files by hand');
  const { records } = await opened.call.history.evidence({ since: 'HEAD~1' });
  const name = '.memory-bank/knowledge/decisions/b';
  expect(records).toMatchObject([
    {
      path: 'knowledge/decisions/b.markdown',
      findings: [{ kind: 'stray', severity: 'error', mend: `git mv ${name}.markdown ${name}.md` }],
    },
  ]);
  expect((await opened.call.history.evidence({ since: 'HEAD' })).records).toEqual([]);
  repo.git('mv', `${name}.markdown`, `${name}.md`);
  expect(await findings()).toEqual([]);
  expect(await opened.call.store.get(entryRecord, 'decisions/b')).toMatchObject({
    key: 'decisions/b',
  });
});

deep('a relative date in a text that stays, and a date that is over', async () => {
  const path = await decide('a', 'We changed it last week, not "yesterday", `2 days ago`.');
  await write('activeContext.md', '# Now\n\n## Next Steps\n\n- Release next week\n');
  const over = await decide('b', 'It holds.', { expires: '2020-01-01' });
  expect(await findings()).toEqual([
    `${path}: It says "last week", which depends on the day of reading: write the date.`,
    `${over}: It expired on 2020-01-01.`,
  ]);
  const { records } = await opened.call.history.evidence({});
  expect(records.map(({ findings }) => findings[0]?.severity)).toEqual(['notice', 'warning']);
  const head = repo.git('rev-parse', 'HEAD').trim();
  expect(await findings({ since: head })).toEqual([]);
});

test('fix writes the new place of moved given evidence, and nothing else', async () => {
  const evidence = await opened.call.project.cite(['src/lock.ts:2']);
  const path = await decide('a', 'See src/lock.ts:1.', { evidence });
  repo.write('src/lock.ts', '// new\none\ntwo\n');
  const before = repo.read(`.memory-bank/${path}`);
  const report = await opened.call.history.evidence({ fix: true });
  expect(report.fixed).toEqual([path]);
  expect(repo.read(`.memory-bank/${path}`)).toBe(before.replace('lock.ts:2', 'lock.ts:3'));
  expect(repo.git('status', '--porcelain').trim()).toBe('M src/lock.ts');
  expect(await opened.call.history.evidence({ fix: true })).not.toHaveProperty('fixed');
});
