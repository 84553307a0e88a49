import { basename } from 'node:path';
import * as z from 'zod';
import { knownProject } from '../../app/project/settings-problem.ts';
import type { Context } from '../../core/declarations/context.ts';
import { anchorOf } from '../../core/markdown/anchors.ts';
import { joint } from '../../core/markdown/section-path.ts';
import { describeCopy } from '../../core/memory/listing.ts';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import { type Home, homeShape } from '../page/answers.ts';
import { at, commitData, referenceTo } from './answer-data.ts';
import { newestOf } from './news-operation.ts';
import { type Catalogue, defineMemoryOperation } from './operation.ts';
import { type KnownRecord, readState } from './record-source.ts';
import { findUnreviewed } from './review.ts';

/** Maximum number of points of one kind. */
const maxPoints = 12;

/** Gives the first page: current work, decisions, and what needs a person. */
export const home = defineMemoryOperation({
  method: 'get',
  path: '/memory/home',
  id: 'get_home',
  summary:
    'Returns the current work, latest decisions, damaged files, and what waits for a person.',
  input: z.object({ at }),
  answer: homeShape,
  async run(context, { at }, catalogue) {
    const { root, projectId: id, problem } = await knownProject(context);
    const { branch, oid: head } = await context.project.head();
    const { records, damaged, copies } = await readState(context, catalogue.types, at);
    const { entries, total, isPart } = await newestOf(context, at);
    const isCut = isPart || total > entries.length;
    const [newest] = entries;
    const unreviewed = at === undefined ? await findUnreviewed(context, entries, isCut) : undefined;
    const points = pointsOf(records);
    const dated = points.sort((a, b) => ((b.at ?? '') < (a.at ?? '') ? -1 : 1));
    const ofPart = (wanted: 'now' | 'decision') =>
      dated.filter(({ part }) => part === wanted).slice(0, maxPoints);
    return {
      project: basename(root),
      ...(id !== undefined && { id }),
      branch,
      commit: newest && commitData(newest.commit),
      head,
      records: counts(records, catalogue),
      now: ofPart('now').map(({ part: _, ...point }) => point),
      decisions: ofPart('decision').map(({ part: _, ...point }) => point),
      ...(unreviewed && { unreviewed }),
      waiting: at === undefined ? await waitingIn(context) : [],
      conflicts: at === undefined ? await conflictsOf(context) : [],
      problems: [
        ...(problem === undefined ? [] : [{ path: 'config.yaml', message: problem }]),
        ...damaged.map(({ path, error }) => ({ path, message: error.text })),
        ...copies.map((copy) => ({ path: copy.path, message: describeCopy(copy) })),
      ],
    };
  },
});

/** Returns the records in conflict that the session's mode may read. */
async function conflictsOf({ project, history }: Context): Promise<string[]> {
  if ((await project.conflicts()).length === 0) return [];
  return (await history.unmerged()).map(({ path }) => path);
}

async function waitingIn({ reviews }: Context): Promise<Home['waiting']> {
  return (await reviews.list()).map(({ name, agent, changes }) => ({
    branch: reviewBranches + name,
    ...(agent !== undefined && { agent }),
    count: changes.length,
  }));
}

function pointsOf(records: readonly KnownRecord[]) {
  return records.flatMap((record) => {
    const points = record.type.points?.(record.value) ?? [];
    return points
      .filter(({ part }) => part !== 'decision' || isOfDecisions(record))
      .map(({ part, text, at, section }) => ({
        ...referenceTo(record),
        part,
        text,
        at,
        ...(section !== undefined && { anchor: anchorOf(section.split(joint).at(-1) ?? section) }),
      }));
  });
}

/** Whether a record has decisions, and not only preferences that hold like one. */
function isOfDecisions({ type, path, key, value }: KnownRecord): boolean {
  const { under, keys } = type.decisions?.among ?? {};
  if (value.superseded_by !== undefined) return false;
  if (keys) return keys.includes(key);
  return under === undefined || path.startsWith(`${type.folder}/${under}/`);
}

function counts(records: readonly KnownRecord[], { toolsets, types }: Catalogue) {
  const numbers = new Map<string, number>();
  for (const { type } of records) numbers.set(type.name, (numbers.get(type.name) ?? 0) + 1);
  return types.flatMap(({ name, toolset }) => {
    const title = toolsets.find((one) => one.name === toolset)?.title ?? toolset;
    const count = numbers.get(name);
    return count === undefined ? [] : [{ toolset, title, type: name, count }];
  });
}
