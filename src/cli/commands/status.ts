import { checkLine } from '../../app/health/check-line.ts';
import { repositoryKind } from '../../app/health/repository-kind.ts';
import { knownProject } from '../../app/project/settings-problem.ts';
import { describePlace } from '../../app/session/placing.ts';
import { findRoot } from '../../app/session/root.ts';
import { counted } from '../../core/answers/painter.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { cautionsJson } from '../../core/memory/answer-fields.ts';
import { type CopiedRecord, type Damaged, describeCopy } from '../../core/memory/listing.ts';
import { readSyncState, type SyncState } from '../../core/memory/sync-state.ts';
import type { Command } from '../line/command.ts';
import { wordingFor } from '../line/error-wording.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inReadingSession } from '../line/run-in-session.ts';
import { memoryJson, memoryLine } from '../screen/memory-lines.ts';
import type { Screen } from '../screen/terminal.ts';

/** `memory-bank status`: shows the project, its repository and the number of its records. */
export const status: Command = {
  about: 'show which project is served, and what it remembers',
  flags: outputFlag,
  async run(invocation) {
    const { app, options, values } = invocation;
    const { path: root, source } = await findRoot({
      ...options.place,
      clientRoots: async () => [],
    });
    const repository = await repositoryKind(root);
    const place = await describePlace(root);
    const toolsets = await app.toolsets();
    const { info, head, mode, sync, claims, memories, ...found } = await inReadingSession(
      invocation,
      (session, call) =>
        app.run(session, 'status', call, async (context) => ({
          info: await knownProject(context),
          head: await context.project.head(),
          mode: await context.modes.current(),
          sync: await readSyncState(context.store.local),
          claims: [...(await context.claims.list()).values()],
          reviews: await context.reviews.list(),
          check: await checkLine(context),
          memories: await context.memories.list(),
          ...(await countRecords(context, toolsets, asJson(values))),
        })),
    );
    const { counts, damaged, copies, cautions, reviews, check } = found;
    const toMend = check?.state === 'good' ? undefined : check?.text;
    const word = await wordingFor();
    const result = {
      project: root,
      source,
      initialized: info.initialized,
      project_id: info.projectId ?? null,
      repository: repository
        ? { kind: repository.kind, top: repository.top, shallow: repository.shallow }
        : null,
      ...(place.isApart && { place: place.text }),
      head: {
        branch: head.branch ?? null,
        commit: head.oid ?? null,
        ...(head.problem !== undefined && { problem: head.problem }),
      },
      ...(info.problem !== undefined && { settings: { problem: info.problem } }),
      mode: mode?.name ?? null,
      records: Object.fromEntries(
        counts.map(([toolset, types]) => [toolset, Object.fromEntries(types)]),
      ),
      damaged: damaged.map(({ path, error }) => ({ path, message: word(error.text) })),
      ...(copies.length > 0 && { copies: copies.map((copy) => ({ ...copy })) }),
      ...(info.syncs && { sync: { at: sync.at ?? null, problem: sync.problem ?? null } }),
      ...(claims.length > 0 && {
        claims: claims.map(({ path, agent, person, until }) => ({ path, agent, person, until })),
      }),
      ...(memories.length > 0 && { memories: memories.map(memoryJson) }),
      ...(reviews.length > 0 && {
        reviews: reviews.map(({ name, agent, at, commits }) => ({ name, agent, at, commits })),
      }),
      ...(cautions.size > 0 && {
        caution: cautionsJson(cautions),
      }),
      ...(toMend !== undefined && { check: toMend }),
    };
    await showResult(values, result, (screen) => {
      const at = head.oid === undefined ? 'no commit yet' : `at ${head.oid.slice(0, 12)}`;
      const branch = head.branch === undefined ? 'no branch' : `branch ${head.branch}`;
      const known: [string, string][] = [
        ['Project', `${root} (${source})`],
        ['Memory', info.initialized ? memoryFolderName : `${memoryFolderName}, not written to yet`],
        ['Id', info.projectId ?? (info.problem === undefined ? 'none yet' : 'not known')],
        [
          'Repository',
          repository
            ? `${repository.kind} ${repository.top}${repository.shallow ? ', shallow' : ''}`
            : 'none yet: the first write makes one',
        ],
      ];
      if (place.isApart) known.push(['Placement', place.text]);
      if (repository) known.push(['Head', head.problem ?? `${branch}, ${at}`]);
      if (info.problem !== undefined) known.push(['Settings', info.problem]);
      if (info.syncs) known.push(['Sync', syncLine(sync)]);
      if (mode) known.push(['Mode', `${mode.name} (${mode.source})`]);
      const toolsetRows = counts.map(([toolset, types]): [string, string] => [
        toolset,
        types.map(([type, count]) => counted(count, type)).join(', ') || 'nothing',
      ]);
      return [
        ...rows(screen, known),
        '',
        ...rows(screen, toolsetRows),
        ...(memories.length > 0
          ? ['', screen.paint('title', 'Memories of other repositories')]
          : []),
        ...memories.map((one) => `  ${screen.plain(memoryLine(one))}`),
        ...(claims.length > 0 ? ['', screen.paint('title', 'Claimed')] : []),
        ...claims.map(({ path, agent, person, until }) =>
          screen.plain(`  ${path} by ${agent} (${person}) until ${until}`),
        ),
        ...(reviews.length > 0
          ? ['', `${counted(reviews.length, 'review')} to do: run "memory-bank review"`]
          : []),
        ...(toMend === undefined ? [] : ['', toMend]),
        ...(damaged.length > 0 ? ['', screen.paint('bad', 'Cannot be read')] : []),
        ...damaged.map(({ error }) => `  ${screen.plain(word(error.text))}`),
        ...(copies.length > 0 ? ['', screen.paint('title', 'Copies of other records')] : []),
        ...copies.map((copy) => `  ${screen.plain(describeCopy(copy))}`),
      ];
    });
    return 0;
  },
};

/** Describes the last automatic exchange with the remote. */
function syncLine({ at, problem }: SyncState): string {
  const last = at === undefined ? 'not exchanged yet' : `last exchange ${at}`;
  return problem === undefined ? `automatic, ${last}` : `automatic, ${last}; not now: ${problem}`;
}

/**
 * Counts the records of each toolset by type, and lists those that cannot be read.
 *
 * @param doubts whether to add the cautions about each record.
 */
async function countRecords(context: Context, toolsets: readonly Toolset[], doubts: boolean) {
  const counts: [toolset: string, types: [type: string, count: number][]][] = [];
  const damaged: Damaged[] = [];
  const copies: CopiedRecord[] = [];
  const paths: string[] = [];
  for (const { name, records } of toolsets) {
    if (records.length === 0) continue;
    const found: [string, number][] = [];
    for (const type of records) {
      const listing = await context.store.list(type);
      damaged.push(...listing.damaged);
      copies.push(...(listing.copies ?? []));
      paths.push(...listing.records.map(({ path }) => path));
      if (listing.records.length > 0) found.push([type.name, listing.records.length]);
    }
    counts.push([name, found]);
  }
  return { counts, damaged, copies, cautions: await context.store.cautions(doubts ? paths : []) };
}

function rows(screen: Screen, pairs: readonly (readonly [string, string])[]): string[] {
  const column = Math.max(...pairs.map(([key]) => key.length)) + 2;
  return pairs.map(
    ([key, value]) => `${screen.paint('key', key.padEnd(column))}${screen.plain(value)}`,
  );
}
