import * as z from 'zod';
import { counted, type Painter } from '../../core/answers/painter.ts';
import { defineOperation } from '../../core/declarations/tool.ts';
import { changeLine } from '../../core/memory/change-lines.ts';
import type { LogEntry, LogRequest } from '../../core/memory/commit-log.ts';
import {
  changesAnswer,
  commitAnswer,
  pageOf,
  shallowNote,
  shortId,
  withinBudget,
} from './answer.ts';
import { forPeople, limit, path, revision, revisionForms, skip } from './history-fields.ts';
import { provenanceText, restLines } from './history-text.ts';

export const recordHistory = defineOperation({
  name: 'record_history',
  title: 'Record history',
  description:
    'Who changed a record, a folder or the memory, when and why: its history of commits, newest first. How states differ: diff_memory.',
  effect: 'read',
  input: z.object({
    path: path.optional().describe('Below .memory-bank/'),
    revision: revision
      .default('HEAD')
      .describe('Branch, tag, id, HEAD~3, 2026-01-31, "2 days ago"'),
    since: revision.optional(),
    limit,
    skip,
  }),
  run: ({ history }, request: LogRequest) => history.log({ ...request, outside: true }),
  answer({ entries, total, shallow }, { skip }) {
    const commits = withinBudget(
      entries.map(({ commit, changes }) => ({
        ...commitAnswer(commit),
        ...changesAnswer(changes),
      })),
    );
    return {
      commits,
      ...pageOf(skip, commits.length, total),
      ...(shallow && { note: shallowNote }),
    };
  },
  command: {
    name: 'log',
    about: 'show who changed the memory, when and why; one record or a folder of it',
    operands: ['path?'],
    input: z.object({
      path: forPeople.path.optional(),
      revision: forPeople.revision.default('HEAD').describe(`where to begin: ${revisionForms}`),
      since: forPeople.revision.optional().describe('only what came after this revision or time'),
      limit: forPeople.limit,
      skip: forPeople.skip,
    }),
    show: ({ entries, total, shallow }, painter) => [
      ...entries.flatMap((entry) => entryLines(painter, entry)),
      ...restLines(painter, total - entries.length, total, 'older commit'),
      ...(shallow ? [painter.paint('faint', shallowNote)] : []),
    ],
    nothing: ({ total }) => (total === 0 ? 'There is no commit of the memory here.' : undefined),
  },
});

function entryLines(painter: Painter, { commit, changes, outside = [] }: LogEntry): string[] {
  const { oid, subject, reason } = commit;
  return [
    `${painter.paint('key', shortId(oid))}  ${painter.paint('title', subject)}`,
    `    ${painter.paint('faint', provenanceText(commit))}`,
    ...(reason?.split('\n') ?? []).map((line) => `    ${painter.plain(line)}`.trimEnd()),
    ...changes.map((change) => `  ${changeLine(painter, change)}`),
    ...(outside.length === 0 ? [] : [`  ${tangledLine(painter, oid, outside)}`]),
    '',
  ];
}

/** Says that a memory commit also changes other files, and which command divides it. */
function tangledLine(painter: Painter, oid: string, outside: readonly string[]): string {
  const [path = ''] = outside;
  const more = outside.length === 1 ? '' : ` and ${counted(outside.length - 1, 'other file')}`;
  return painter.paint(
    'bad',
    `! also changes ${path}${more}: "memory-bank untangle ${shortId(oid)}" divides it`,
  );
}
