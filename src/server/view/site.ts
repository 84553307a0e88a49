import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../../app/app.ts';
import { recordText } from '../../app/project/record-text.ts';
import type { CallOptions } from '../../app/session/call-context.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Session } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { CommitLog, Difference, RecordList } from '../page/answers.ts';
import type { CopyBase, CopyRecords, CopyTexts } from '../page/copy-parts.ts';
import { entryData } from './answer-data.ts';
import { board } from './board-operations.ts';
import { compareStates } from './commit-changes.ts';
import { concerns, evidence, withoutCode } from './evidence-operations.ts';
import { graph } from './graph-operation.ts';
import { activity, blame, branches, compare, modes } from './history-operations.ts';
import { home } from './home-operation.ts';
import { news } from './news-operation.ts';
import type { Catalogue, MemoryOperation } from './operation.ts';
import { lastCommit, recordAnswer } from './record-answer.ts';
import { RecordLinks } from './record-links.ts';
import { records } from './record-operations.ts';
import { readState } from './record-source.ts';

/** Maximum number of commits in a copy, and of the states of one record. */
const maxCommits = 2000;
const maxStates = 200;
/** Maximum number of differences of one commit in a copy. */
const maxChanges = 500;
/** Number of records in one part. */
const partSize = 100;

/** The files of a copy, and the pages that show them. */
export interface SiteSettings {
  /** The folder with the bundled files of the pages. */
  readonly folder: string;
  /** The name of the page, if all is to be in this one file. */
  readonly single: string | undefined;
  /** The names of other branches that are to be in the copy, also those of reviews. */
  readonly branches: readonly string[];
}

/** Returns a read-only copy of the pages, which needs no server: content by file name. */
export function siteFiles(
  app: App,
  session: Session,
  settings: SiteSettings,
  options: CallOptions,
): Promise<ReadonlyMap<string, string>> {
  return app.run(session, 'export', options, async (context) => {
    const toolsets = await app.toolsets();
    const types = toolsets.flatMap(({ records }) => records);
    const inReview = () => Promise.reject(new Error('A copy decides nothing.'));
    const parts = await copyOf(context, { toolsets, types, inReview }, settings.branches);
    return settings.single === undefined
      ? severalFiles(settings.folder, parts)
      : oneFile(settings.folder, settings.single, parts);
  });
}

/** Returns the parts of a copy by name. */
async function copyOf(
  context: Context,
  catalogue: Catalogue,
  others: readonly string[],
): Promise<Map<string, unknown>> {
  const { types, toolsets } = catalogue;
  // The answer of each operation has the type that the page knows it by.
  const ask = async <T>(operation: MemoryOperation, args: JsonObject): Promise<T> =>
    (await operation.run(context, args, catalogue)) as T;
  const parts = new Map<string, unknown>();
  const state = await readState(context, types, undefined);
  const links = new RecordLinks(state.records);
  const log = await commitsOf(context, maxCommits);
  const changes = await changesOf(context, log);
  const all = [
    ...state.records.map(({ type, path, value }) => ({ type, path, value, damaged: undefined })),
    ...state.damaged.flatMap(({ path, error }) => {
      const type = types.find((one) => one.owns(path));
      return type ? [{ type, path, value: undefined, damaged: error.text }] : [];
    }),
  ];
  const gone = new Set(log.entries.flatMap(({ changes }) => changes.map(({ path }) => path)));
  for (const { path } of all) gone.delete(path);
  const paths = [...all.map(({ path }) => path), ...gone].sort((a, b) => (a < b ? -1 : 1));
  const byPath = new Map(all.map((one) => [one.path, one]));
  const texts: CopyTexts[number][] = [];
  const starts: string[] = [];
  let part: Record<string, CopyRecords[string]> = {};
  for (const [i, path] of paths.entries()) {
    if (i % partSize === 0) {
      context.progress(i, paths.length, 'Copying records');
      context.signal.throwIfAborted();
      part = Object.create(null);
      parts.set(`records-${starts.length}`, part);
      starts.push(path);
    }
    const states = await commitsOf(context, maxStates, path);
    const known = byPath.get(path);
    const entry = { log: states, changes: changes.get(path) ?? {} };
    if (!known) {
      part[path] = entry;
      continue;
    }
    const text = await recordText(context, path);
    const last = await lastCommit(context, path);
    const record = recordAnswer({ ...known, text, last }, path, links);
    const written = last && {
      blame: await ask<CopyRecords[string]['blame'] & {}>(blame, { path }),
    };
    part[path] = { record, ...written, ...entry };
    const { title, type, toolset } = record;
    const {
      body = '',
      notes = '',
      reason = '',
    } = known.value ? known.type.search(known.value) : {};
    texts.push({ path, title, type, toolset, text: [title, body, notes, reason].join('\n') });
  }
  const list = await branchesOf(ask, others);
  const base: CopyBase = {
    home: homeOf(await ask<CopyBase['home']>(home, {})),
    graph: await ask(graph, {}),
    board: withoutClaims(await ask<CopyBase['board']>(board, {})),
    ...list,
    modes: await ask(modes, {}),
    conflicts: { conflicts: [] },
    activity: await ask(activity, {}),
    news: await ask(news, {}),
    evidence: evidenceOf(await ask<CopyBase['evidence']>(evidence, {})),
    concerns: await ask(concerns, {}),
    records: await listOf(ask),
    tools: Object.fromEntries(
      toolsets.flatMap(({ name, tools }) => tools.map((tool) => [tool.name, name])),
    ),
    starts,
  };
  return new Map<string, unknown>([['base', base], ['log', log], ['texts', texts], ...parts]);
}

type Ask = <T>(operation: MemoryOperation, args: JsonObject) => Promise<T>;

async function listOf(ask: Ask): Promise<RecordList['records']> {
  const all: RecordList['records'] = [];
  for (;;) {
    const { records: next, total } = await ask<RecordList>(records, {
      skip: all.length,
      limit: 1000,
    });
    all.push(...next);
    if (next.length === 0 || all.length >= total) return all;
  }
}

/** The current branch, and the other ones that were asked for: any other one may be meant for nobody. */
async function branchesOf(
  ask: Ask,
  others: readonly string[],
): Promise<Pick<CopyBase, 'branches' | 'compared'>> {
  const all = await ask<CopyBase['branches']>(branches, { limit: 500 });
  const missing = others.find((name) => all.branches.every((branch) => branch.name !== name));
  if (missing !== undefined) {
    throw new MemoryError('not_found', `There is no branch ${JSON.stringify(missing)}.`, {
      hint: '"memory-bank branches" lists them.',
    });
  }
  const shown = all.branches.filter(({ name, current }) => current || others.includes(name));
  const compared: Record<string, CopyBase['compared'][string]> = {};
  for (const { name, current, changes } of shown) {
    if (current || changes === 0) continue;
    compared[name] = await ask(compare, { from: 'HEAD', to: name, since: 'fork', limit: 500 });
  }
  return { branches: { branches: shown, total: shown.length }, compared };
}

/** Returns the newest commits of a record or of all; a memory that was never committed has none. */
async function commitsOf({ history }: Context, limit: number, path?: string): Promise<CommitLog> {
  try {
    const log = await history.log({ path, revision: 'HEAD', skip: 0, limit });
    return { ...log, entries: log.entries.map(entryData) };
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== 'not_found') throw error;
    return { entries: [], total: 0, shallow: false };
  }
}

/** Returns what each commit changed: differences by path and commit. */
async function changesOf(
  context: Context,
  { entries }: CommitLog,
): Promise<ReadonlyMap<string, Record<string, Difference[]>>> {
  const found = new Map<string, Record<string, Difference[]>>();
  for (const [i, { commit }] of entries.entries()) {
    if (i % 100 === 0) context.progress(i, entries.length, 'Comparing commits');
    context.signal.throwIfAborted();
    const request = { to: commit.oid, path: undefined, skip: 0, limit: maxChanges };
    for (const change of (await compareStates(context, request)).changes) {
      const ofPath = found.get(change.path) ?? {};
      ofPath[commit.oid.slice(0, 12)] = [change];
      found.set(change.path, ofPath);
    }
  }
  return found;
}

const head = /<link rel="icon"[\s\S]*<\/script>\n/;

/** Returns the page with its script and data next to it. */
async function severalFiles(
  folder: string,
  parts: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  // A browser may see each file as an origin of its own.
  const policy =
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:";
  const links = [
    '<link rel="icon" href="icon.svg">',
    '<link rel="stylesheet" href="style.css">',
    '<script src="page.js" defer></script>',
  ];
  files.set(
    'index.html',
    (await page(folder, policy)).replace(head, () => `${links.join('\n')}\n`),
  );
  for (const name of ['page.js', 'style.css', 'icon.svg']) {
    files.set(name, await readFile(join(folder, name), 'utf8'));
  }
  for (const [name, part] of parts) {
    files.set(`data/${name}.js`, `memoryPart(${JSON.stringify(name)},${JSON.stringify(part)});\n`);
  }
  return files;
}

/** Returns the page with its script, style sheet and data in it. */
async function oneFile(
  folder: string,
  name: string,
  parts: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, string>> {
  const script = await readFile(join(folder, 'page.js'), 'utf8');
  const style = await readFile(join(folder, 'style.css'), 'utf8');
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; img-src data:`;
  const inserted = [
    '<link rel="icon" href="data:,">',
    `<style>${style}</style>`,
    ...[...parts].map(([name, part]) => {
      // The text of a record must not end the element.
      const data = JSON.stringify(part).replace(/</g, '\\u003c');
      return `<script type="application/json" id="part-${name}">${data}</script>`;
    }),
  ];
  const html = (await page(folder, policy))
    .replace(head, () => `${inserted.join('\n')}\n`)
    .replace('</body>', () => `<script>${script}</script>\n</body>`);
  return new Map([[name, html]]);
}

/** Returns the page as a copy, with its policy in it: a file has no headers. */
async function page(folder: string, policy: string): Promise<string> {
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  return html
    .replace('<html ', '<html data-copy ')
    .replace(
      '<meta name="viewport"',
      `<meta http-equiv="Content-Security-Policy" content="${policy}; base-uri 'none'; form-action 'none'">\n<meta name="viewport"`,
    );
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * Returns the home page without what is not a part of the memory: changes that nobody has accepted, and
 * the commits that the person of this clone has not reviewed, which no reader of a copy can mark.
 */
function homeOf({ unreviewed: _, ...home }: CopyBase['home']): CopyBase['home'] {
  return { ...home, waiting: [] };
}

/** Returns the board without the claims, which are over before anybody reads a copy. */
function withoutClaims({ tasks, ...board }: CopyBase['board']): CopyBase['board'] {
  return { ...board, tasks: tasks.map(({ claim: _, ...task }) => task) };
}

/** Returns the findings without the code that they are about. */
function evidenceOf({ findings, stale }: CopyBase['evidence']): CopyBase['evidence'] {
  return { findings, stale: stale.map(withoutCode) };
}
