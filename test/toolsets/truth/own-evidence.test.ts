import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import { formatGiven, inlineEvidence } from '../../../src/core/evidence/annotations.ts';
import { Sections } from '../../../src/core/markdown/section-statements.ts';
import type { Session } from '../../../src/core/memory/session.ts';
import { mergeRecord } from '../../../src/store/merge/record-merge.ts';
import { memoryFile } from '../../../src/toolsets/memory-bank/memory-file.ts';
import { deep, runs } from '../../support/depth.ts';
import fc from '../../support/fc.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';

let repo: Repo;
let app: App;
let session: Session;

const log = '.memory-bank/decisionLog.md';
const place = 'src/code.ts:1-3';

beforeEach(() => {
  repo = Repo.create();
  repo.write('src/code.ts', 'a\nb\nc\nd\ne\n');
  commit('Begin');
  app = projectApp(repo.root);
  session = app.connect({ isAgent: true });
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
}

async function call(tool: string, args: object) {
  const reply = await app.call(session, tool, args);
  expect(reply?.error, reply?.text).toBeUndefined();
}

const decide = (title: string, rest: object = {}) =>
  call('log_decision', { title, context: 'C', decision: `${title} counts.`, ...rest });
const verify = (path: string) => call('verify_memory', { path });
const change = (text: string) => {
  repo.write('src/code.ts', `a\n${text}\nc\nd\ne\n`);
  commit(`Change ${text}`);
};

async function changes(): Promise<number> {
  const { records } = await app.run(session, 'check', {}, ({ history }) =>
    history.evidence({ only: 'code' }),
  );
  const all = records.flatMap(({ findings }) => findings);
  return all.filter(({ severity }) => severity === 'warning').length;
}

/** The evidence of each section of the files below `.memory-bank/`, by its title. */
function evidenceOf(...files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    files.flatMap((file) => {
      const text = repo.read(`.memory-bank/${file}`);
      const sections = new Sections(file, text).all.filter(({ level }) => level === 2);
      return sections.map(({ heading, start, end }) => {
        const given = inlineEvidence(text.slice(start, end)).map(formatGiven);
        return [`${file}#${heading.replace(/ - \d{4}-.*/, '')}`, given] as const;
      });
    }),
  );
}

describe('the evidence of an entry', () => {
  deep('is not hidden by a later entry about the same place', async () => {
    await decide('One', { evidence: [place] });
    change('B');
    expect(await changes()).toBe(1);
    await decide('Two', { evidence: [place] });
    expect(await changes()).toBe(1);
    await verify('decisionLog.md#Two');
    expect(await changes()).toBe(1);
    const before = repo.read(log);
    await verify('decisionLog.md#One');
    expect(await changes()).toBe(0);
    const lines = repo.read(log).split('\n');
    expect(before.split('\n').filter((line, i) => line !== lines[i])).toHaveLength(1);
    change('X');
    expect(await changes()).toBe(1);
    await verify('decisionLog.md');
    expect(await changes()).toBe(0);
  });

  deep('is not that of another entry that only mentions the place', async () => {
    await decide('One', { decision: `See \`${place}\`.` });
    change('B');
    await decide('Two', { evidence: [place] });
    expect(await changes()).toBe(1);
    await verify('decisionLog.md');
    expect(await changes()).toBe(0);
    const head = repo.git('rev-parse', 'HEAD');
    await verify('decisionLog.md');
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  deep('stays when other entries are added, edited, removed, restored or merged', async () => {
    await call('initialize_memory_bank', { path: repo.root });
    const files = ['decisionLog.md', 'systemPatterns.md', 'banks/code/b/api.md'];
    const page = (names: readonly string[]) =>
      `# P\n\n${names.map((name) => `## ${name}\n\nIt is ${name}.\n`).join('\n')}`;
    await call('write_memory_bank_file', { filename: files[1], content: page(['P1', 'P2']) });
    repo.write(`.memory-bank/${files[2]}`, page(['B1', 'B2']));
    for (const title of ['One', 'Two', 'Three']) await decide(title, { evidence: [place] });
    for (const section of ['P1', 'P2'])
      await call('verify_memory', { path: `${files[1]}#${section}`, evidence: [place] });
    for (const section of ['B1', 'B2'])
      await call('verify_memory', { path: `${files[2]}#${section}`, evidence: [place] });
    change('B');
    await verify('decisionLog.md#Two');
    await verify('systemPatterns.md#P1');
    await verify('banks/code/b/api.md#B1');
    const bank = { bank_type: 'code', bank_id: 'b', target_file: 'api.md' };
    const edit = (file: string, from: RegExp, to: string) => () =>
      call('write_memory_bank_file', {
        filename: file,
        content: repo.read(`.memory-bank/${file}`).replace(from, to),
      });
    let n = 0;
    /** Changes of one entry each, with the entry. */
    const steps: readonly (readonly [entry: string | undefined, run: () => Promise<void>])[] = [
      [undefined, () => decide(`New ${++n}`, { evidence: [place] })],
      [undefined, () => decide(`New ${++n}`, { supersedes: ['Two'] })],
      [undefined, () => call('track_progress', { action: 'A', description: `D${++n}` })],
      [undefined, () => call('update_active_context', { tasks: [`T${++n}`] })],
      [undefined, edit('systemPatterns.md', /It is P2\./, 'It is P2. Or so.')],
      [undefined, edit('decisionLog.md', /One counts\./, 'One counts. Or so.')],
      ['decisionLog.md#Three', edit('decisionLog.md', /## Three[\s\S]*?(?=\n## |$(?!\n))/, '')],
      ['systemPatterns.md#P1', () => verify('systemPatterns.md#P1')],
      ['decisionLog.md#Two', () => verify('decisionLog.md#Two')],
      [
        undefined,
        () => call('update', { ...bank, operation: 'append', content: `## N${++n}\n\nX` }),
      ],
      [
        undefined,
        () => call('update', { ...bank, operation: 'insert', position: 'B2', content: `Y${++n}` }),
      ],
      [
        'decisionLog.md#Two',
        () => call('restore_memory', { path: 'decisionLog.md#Two', revision: 'HEAD~1' }),
      ],
      [
        'decisionLog.md#One',
        async () => {
          const base = repo.read(log);
          const ours = `${base.trimEnd()}\n\n## Ours ${++n} - 2026-01-02\n\nX.\n`;
          const theirs = base.replace('One counts.', `One counts ${n}.`);
          const merged = mergeRecord(memoryFile, 'decisionLog.md', { base, ours, theirs }, 7);
          expect(merged.conflict).toBeFalsy();
          repo.write(log, merged.text ?? '');
          commit('Merge');
        },
      ],
    ];
    await fc.assert(
      fc.asyncProperty(fc.nat(steps.length - 1), async (i) => {
        const [entry, run] = steps[i] ?? expect.unreachable();
        const before = evidenceOf(...files);
        await run();
        const after = evidenceOf(...files);
        for (const [name, given] of before) {
          if (name !== entry) expect(after.get(name), name).toEqual(given);
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

test('a text between two thematic breaks is not front matter, and stays', async () => {
  const text = '---\n\nSome text, not a key.\n\n---\n\n# T\n';
  repo.write('.memory-bank/notes.md', text);
  commit('Add a note');
  await call('verify_memory', { path: 'notes.md', evidence: [place] });
  const written = repo.read('.memory-bank/notes.md');
  expect(written).toMatch(/^---\nevidence:\n/);
  expect(written.endsWith(`---\n${text}`)).toBe(true);
  await call('verify_memory', { path: 'notes.md', evidence: [] });
  expect(repo.read('.memory-bank/notes.md').endsWith(`---\n${text}`)).toBe(true);
});

test('a rule file in JSON or TOML cannot be verified, and stays as it is', async () => {
  for (const [name, text] of [
    ['a.json', '{"mode": "a", "instructions": {"general": ["See src/code.ts:1-3"]}}\n'],
    ['b.toml', 'mode = "b"\n'],
  ] as const) {
    const path = `rules/${name}`;
    repo.write(`.memory-bank/${path}`, text);
    commit('Add a mode');
    for (const rest of [{}, { evidence: [place] }, { status: 'fact' }]) {
      const reply = await app.call(session, 'verify_memory', { path, ...rest });
      expect(reply?.body).toMatchObject({ success: false, error: 'invalid_input' });
      expect(reply?.body.message).toContain('write the file as YAML');
    }
    expect(repo.read(`.memory-bank/${path}`)).toBe(text);
  }
});
