import * as z from 'zod';
import { counted } from '../../core/answers/painter.ts';
import { defineOperation } from '../../core/declarations/tool.ts';
import { changeLine } from '../../core/memory/change-lines.ts';
import { type FieldConflict, shownValue } from '../../core/memory/conflict.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { changesAnswer, commitAnswer, cutValue, shortId } from './answer.ts';
import { forPeople, path } from './history-fields.ts';

const side = z.array(path).max(1000).optional();

const paths = z.array(forPeople.path).optional();
const sidesForPeople = z.object({
  ours: paths.describe('keep ours where this record, or path#field, conflicts'),
  theirs: paths.describe('take theirs where this record, or path#field, conflicts'),
});

interface Sides {
  readonly ours?: readonly string[] | undefined;
  readonly theirs?: readonly string[] | undefined;
}

interface SyncArguments extends Sides {
  readonly confirm?: boolean | undefined;
}

export const syncMemory = defineOperation({
  name: 'sync_memory',
  title: 'Sync memory',
  description:
    'Push the memory to the remote and fetch what others wrote. ours, theirs: the side for paths in conflict.',
  effect: 'destroy',
  openWorld: true,
  input: z.object({ ours: side, theirs: side, confirm: z.boolean().optional() }),
  run: ({ history }, { ours = [], theirs = [], confirm = false }: SyncArguments) =>
    history.sync({ ours, theirs, confirm }),
  answer({ upstream, commit, received, files, sent }) {
    return {
      upstream,
      now: commitAnswer(commit),
      received: received.length,
      ...changesAnswer(received),
      ...(files > 0 && { files_outside: files }),
      sent,
    };
  },
  command: {
    name: 'sync',
    about: 'fetch, merge and push the branch with its memory',
    input: sidesForPeople.extend({
      confirm: z.boolean().optional().describe('push commits that change other files also'),
    }),
    show({ upstream, commit, received, files, sent }, painter) {
      const outside = files > 0 ? `, ${counted(files, 'file')} outside the memory` : '';
      return [
        ...received.map((change) => changeLine(painter, change)),
        painter.plain(
          `Received ${counted(received.length, 'change')}${outside}; sent ${counted(sent, 'commit')}.`,
        ),
        painter.plain(`Here and ${upstream} are at ${shortId(commit.oid)}.`),
      ];
    },
  },
});

export const resolveConflicts = defineOperation({
  name: 'resolve_conflicts',
  title: 'Resolve conflicts',
  description:
    'Solve a conflict that git reports after a merge, without a commit; ours, theirs: paths that one side wins.',
  effect: 'destroy',
  input: z.object({ ours: side, theirs: side }),
  run: ({ history }, { ours = [], theirs = [] }: Sides) => history.resolve({ ours, theirs }),
  answer({ resolved, conflicts, edited, elsewhere, next }) {
    return {
      resolved: [...resolved],
      conflicts: conflicts.map(({ path, reasons, fields }) => ({
        path,
        reasons: [...reasons],
        ...(fields.length > 0 && { fields: fields.map(fieldAnswer) }),
      })),
      edited_by_hand: [...edited],
      outside_memory: [...elsewhere],
      next: nextStep(conflicts.length, edited.length, elsewhere.length, next),
    };
  },
  command: {
    name: 'resolve',
    about: 'finish a merge that left the memory in conflict; also a rebase or stash pop',
    input: sidesForPeople,
    show({ resolved, conflicts, edited, elsewhere, next }, painter) {
      const lines = [
        ...resolved.map((path) => painter.paint('good', `resolved ${path}`)),
        ...conflicts.flatMap(({ path, reasons, fields }) => [
          painter.paint('bad', `conflict ${path}: ${reasons.join('; ')}`),
          ...fields.map(({ field, ours, theirs }) =>
            painter.plain(`  #${field}: ours ${shownValue(ours)}, theirs ${shownValue(theirs)}`),
          ),
        ]),
        ...edited.map((path) => painter.paint('key', `edited by hand ${path}: "git add" it`)),
        ...elsewhere.map((path) => painter.paint('key', `outside the memory ${path}`)),
        ...(conflicts.length === 0 ? [] : [painter.plain(decide)]),
        ...(next === undefined ? [] : [painter.plain(finish(next))]),
      ];
      return lines.length === 0 ? ['Nothing to resolve.'] : lines;
    },
    failure: ({ conflicts }) => (conflicts.length > 0 ? 'conflict' : undefined),
  },
});

const decide =
  'Decide for a side with --ours <path> or --theirs <path>, a field with <path>#<field>, or edit the files and "git add" them.';

/** A conflict of a field, with both values cut. */
function fieldAnswer({ field, base, ours, theirs }: FieldConflict): JsonObject {
  const values = Object.entries({ base, ours, theirs }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, cutValue(value)] as const],
  );
  return { field, ...Object.fromEntries(values) };
}

/** The next step for the caller. */
function nextStep(conflicts: number, edited: number, elsewhere: number, next: string | undefined) {
  if (conflicts > 0)
    return 'Name the paths, or path#field, in `ours` or `theirs`, or edit the files and "git add" them.';
  if (edited > 0) return 'Look through the files edited by hand and "git add" them.';
  if (elsewhere > 0) return 'Resolve the files outside the memory and "git add" them.';
  return next === undefined ? 'Nothing is left to resolve.' : finish(next);
}

/** @param next the command in quotes, or two of them. */
function finish(next: string): string {
  return `Nothing is left to resolve: finish with ${next}.`;
}
