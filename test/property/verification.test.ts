import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { formatInline } from '../../src/core/evidence/annotations.ts';
import type { Session } from '../../src/core/memory/session.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

/** A record of each type, and for markdown the section that can have evidence of its own. */
interface Kind {
  readonly type: string;
  readonly path: string;
  readonly section?: string;
  make(): Promise<unknown>;
}

/** A record with evidence: in its keys, between its lines or in a section, each of one file. */
interface Case {
  readonly kind: Kind;
  readonly address: string;
  readonly code: string;
}

const lines = ['a', 'b', 'c', 'd', 'e', 'f', ''];
const body = (name: string) => `# ${name}\n\n## One\n\nText.\n\n## Two\n\nOther.\n`;

let repo: Repo;
let app: App;
let session: Session;
let cases: readonly Case[];

async function call(tool: string, args: object) {
  const reply = await app.call(session, tool, args);
  expect(reply?.error, reply?.text).toBeUndefined();
}

const byHand = (path: string, text: string): Kind => ({
  type: path.startsWith('rules/') ? 'rule-file' : 'bank-document',
  path,
  make: async () => repo.write(`.memory-bank/${path}`, text),
  ...(path.endsWith('.md') && { section: 'One' }),
});
const page = (path: string): Kind => ({
  type: 'bank-file',
  path,
  section: 'One',
  make: () => call('write_memory_bank_file', { filename: path, content: body(path) }),
});
const node = (type: string, path: string, tool: string, args: object): Kind => ({
  type,
  path: `graph/${path}.yaml`,
  make: () => call(tool, args),
});
const named = { slug: 'a', name: 'A', description: 'D' };

const kinds: readonly Kind[] = [
  page('notes.md'),
  page('systemPatterns.md'),
  {
    type: 'bank-file',
    path: 'decisionLog.md',
    section: 'One',
    make: async () => {
      for (const title of ['One', 'Two', 'Three']) {
        await call('log_decision', { title, context: 'C', decision: `${title} counts.` });
      }
    },
  },
  byHand('rules/own.yaml', 'mode: own\ninstructions:\n  general:\n    - Say it.\n'),
  byHand('banks/code/b/api.md', body('Interface')),
  byHand('banks/code/b/windows.md', body('Windows').replaceAll('\n', '\r\n')),
  {
    type: 'knowledge-entry',
    path: 'knowledge/patterns/k.md',
    section: 'One',
    make: () =>
      call('memory_write', { category: 'patterns', key: 'k', value: body('k').trimEnd() }),
  },
  {
    type: 'document',
    path: 'documents/rules/doc',
    section: 'One',
    make: async () => {
      await call('activate_project', { project_path: repo.root });
      await call('store_memory', { title: 'Doc', type: 'rules', content: body('Doc') });
    },
  },
  node('feature', 'features/a', 'create_features', { features: [named] }),
  node('path', 'paths/lib/x.ts', 'create_paths', { paths: [{ path: 'lib/x.ts', type: 'file' }] }),
  node('requirement', 'requirements/a/it-works', 'create_requirements', {
    feature_slug: 'a',
    requirements: [{ text: 'It works' }],
  }),
  node('objective', 'objectives/a', 'create_objective', named),
  node('task', 'tasks/a/do-it', 'create_tasks', {
    objective_slug: 'a',
    tasks: [{ text: 'Do it' }],
  }),
  node('ticket', 'tickets/t-1', 'create_tickets', { tickets: [{ key: 'T-1', title: 'T' }] }),
];

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
}

const head = () => repo.git('rev-parse', 'HEAD').trim();

/** The records with a warning or an error. */
async function stale(): Promise<readonly string[]> {
  const { records } = await app.run(session, 'check', {}, ({ history }) =>
    history.evidence({ only: 'code' }),
  );
  return records.flatMap(({ path, findings }) =>
    findings.some(({ severity }) => severity === 'error' || severity === 'warning') ? [path] : [],
  );
}

/** The changed lines of the memory since a commit, by their sign. */
function changedSince(oid: string): readonly string[] {
  const diff = repo.git('diff', '-U0', oid, '--', '.memory-bank');
  return diff.split('\n').filter((line) => /^[-+](?![-+]{2} )/.test(line));
}

async function prepare(kind: Kind, number: number): Promise<readonly Case[]> {
  await kind.make();
  const found = repo.git('ls-files', '-co', '--', `.memory-bank/${kind.path}*`).trim();
  const path = found.split('\n')[0]?.slice('.memory-bank/'.length) ?? '';
  const own = { ...kind, path };
  const whole = { kind: own, address: path, code: `src/${number}-whole.ts` };
  const { section } = kind;
  const parts = section
    ? [{ kind: own, address: `${path}#${section}`, code: `src/${number}.ts` }]
    : [];
  const all = path === 'decisionLog.md' ? parts : [whole, ...parts];
  for (const { address, code } of all) {
    repo.write(code, lines.join('\n'));
    await call('verify_memory', { path: address, evidence: [`${code}:1-3`, `${code}:5`] });
  }
  if (!section) return all;
  const code = `src/${number}-text.ts`;
  repo.write(code, lines.join('\n'));
  const cited = await app.run(session, 'cite', {}, ({ project }) => project.cite([`${code}:1-3`]));
  const file = `.memory-bank/${path}`;
  const eol = repo.read(file).includes('\r\n') ? '\r\n' : '\n';
  const mention = `${eol}It rests on ${cited.map(formatInline).join()}.${eol}`;
  repo.write(
    file,
    repo.read(file).replace(/^## Two.*\r?\n/m, (heading) => heading + mention),
  );
  return [...all, { kind: own, address: `${path}#Two`, code }, { kind: own, address: path, code }];
}

beforeAll(async () => {
  repo = Repo.create();
  repo.write('README.md', '# Read me\n');
  commit('Begin');
  app = projectApp(repo.root);
  session = app.connect();
  session.agent = 'tester/1.0';
  const made: Case[] = [];
  for (const [i, kind] of kinds.entries()) made.push(...(await prepare(kind, i)));
  commit('Cite');
  cases = made;
});

afterAll(async () => {
  await app.close();
  repo.remove();
});

describe('a verification', () => {
  test('is tried with every type of record', () => {
    const types = toolsets.flatMap(({ records }) => records.map(({ name }) => name));
    expect(new Set(kinds.map(({ type }) => type))).toEqual(new Set(types));
  });

  deep('renews the evidence where the record has it, once', async () => {
    expect(await stale()).toEqual([]);
    const one = fc.nat(cases.length - 1);
    await fc.assert(
      fc.asyncProperty(
        one,
        fc.nat(2),
        fc.boolean(),
        fc.uuid(),
        async (n, line, isCommitted, text) => {
          const { kind, address, code } = cases[n] ?? expect.unreachable();
          repo.write(code, lines.with(line, text).join('\n'));
          if (isCommitted) commit('Change the code');
          expect(await stale()).toEqual([kind.path]);
          const before = head();
          await call('verify_memory', { path: address });
          expect(await stale()).toEqual([]);
          const evidence = changedSince(before).filter((one) => one.includes(`${code}:1-3`));
          expect(evidence.map((one) => one[0])).toEqual(['-', '+']);
          const rest = changedSince(before).filter((one) => !evidence.includes(one));
          const verified = /^[-+](?:verified:| {2}(?:at|commit|by): .*)\r?$/;
          expect(rest.filter((one) => !verified.test(one))).toEqual([]);
          if (address.includes('#') || kind.path === 'decisionLog.md') expect(rest).toEqual([]);
          const after = head();
          expect(repo.git('rev-list', '--count', `${before}..`).trim()).toBe('1');
          await call('verify_memory', { path: address });
          expect(head()).toBe(after);
          if (!isCommitted) commit('Change the code');
        },
      ),
      { numRuns: runs(60) },
    );
  });
});
