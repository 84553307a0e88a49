import { paintDiff } from '../../../core/answers/painter.ts';
import type { Screen } from '../../screen/terminal.ts';
import { entryName } from '../client/client.ts';
import { diffOf } from './file-edit.ts';
import type { SetupPlan } from './setup-plan.ts';

/** The plan of a setup, as a person sees it before it is carried out. */
export function planText(
  screen: Screen,
  { edits, untouched, outcomes }: SetupPlan,
  notes: readonly string[],
  undo: boolean,
): string {
  const diffs = edits.flatMap((edit) =>
    diffOf(edit)
      .trimEnd()
      .split('\n')
      .map((line) => paintDiff(screen, line)),
  );
  const left = untouched.map(({ path, reason, isForeign, remedy: given }) => {
    const message = `${path} is left alone: ${reason}.`;
    if (given !== undefined) return screen.paint('bad', `${message} ${given}`);
    if (undo && isForeign) return screen.plain(message);
    const remedy = isForeign ? 'Rename that entry' : 'Fix it';
    const what = undo ? `remove the entry "${entryName}"` : 'add the server';
    return screen.paint('bad', `${message} ${remedy}, or ${what} by hand.`);
  });
  const none = edits.length + notes.length === 0 ? ['No file has to change.'] : [];
  const noteLines = notes.map((line) => screen.plain(line));
  const outcomeLines = outcomes.map((line) => screen.plain(line));
  return `${[...diffs, ...outcomeLines, ...noteLines, ...left, ...none].join('\n')}\n`;
}
