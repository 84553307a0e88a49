import { resolve } from 'node:path';
import { describePlace, planMove, type WantedPlace } from '../../app/session/placing.ts';
import { findRoot } from '../../app/session/root.ts';
import { counted } from '../../core/answers/painter.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, type FlagValues, flagText } from '../line/command.ts';
import { mayGoOn } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { Screen } from '../screen/terminal.ts';

/** `memory-bank place`: moves the memory to a branch of its own, to another repository, or back. */
export const place: Command = {
  about:
    'show where the memory is, or move it; with its history: in-branch, own-branch, or repository <folder>; shows the plan first',
  operands: ['place?', 'folder?'],
  flags: {
    branch: { value: 'name', about: 'the branch of own-branch', default: 'memory' },
    'each-branch': { about: 'own-branch: one branch for each branch of the project' },
    yes: { about: 'do not ask' },
    'dry-run': { about: 'only show the plan' },
    ...outputFlag,
  },
  async run({ options, values, operands }) {
    const { path: root } = await findRoot({ ...options.place, clientRoots: async () => [] });
    const wanted = wantedPlace(operands, values);
    if (!wanted) {
      const { text } = await describePlace(root);
      await showResult(values, { place: text }, () => [`The memory is ${text}.`]);
      return 0;
    }
    const isJson = asJson(values);
    const screen = new Screen();
    const warn = (message: string) => options.log('warning', message);
    const move = await planMove(root, wanted, options.durability, warn);
    try {
      const { from, to, isThere, files, steps } = move.plan;
      if (!isJson) {
        await screen.print(
          isThere
            ? `The memory is ${screen.plain(to)} already.\n`
            : [
                screen.paint('title', `Move ${counted(files, 'file')} of the memory`),
                `  now ${screen.plain(from)}`,
                `  then ${screen.plain(to)}`,
                ...steps.map((step) => `- ${screen.plain(step)}`),
                '',
              ].join('\n'),
        );
      }
      const isPlan = isThere || values['dry-run'] === true;
      const moved = !isPlan && (await mayGoOn(values, 'Move it?'));
      if (moved) await move.carryOut();
      await showResult(values, { from, to, files, steps, moved }, (screen) =>
        moved ? [screen.paint('good', `The memory is ${to}.`)] : [],
      );
      return 0;
    } finally {
      move.close();
    }
  },
};

function wantedPlace(
  [kind, folder, ...rest]: readonly string[],
  values: FlagValues,
): WantedPlace | undefined {
  const isOwn = kind === 'own-branch';
  const branch = flagText(values, 'branch');
  const each = values['each-branch'] === true;
  if (!isOwn && (branch !== undefined || each)) {
    throw new MemoryError('invalid_input', '--branch and --each-branch belong to own-branch.');
  }
  if (kind === 'repository' && folder !== undefined) return { kind, folder: resolve(folder) };
  if (kind === undefined) return undefined;
  const isKnown = (isOwn || kind === 'in-branch') && folder === undefined && rest.length === 0;
  if (!isKnown) {
    throw new MemoryError('invalid_input', `${[kind, folder].join(' ').trim()} is not a place.`, {
      hint: 'Give in-branch, own-branch, or repository <folder>: the folder of a clone of another repository.',
    });
  }
  return isOwn ? { kind, branch: branch ?? 'memory', each } : { kind: 'in-branch' };
}
