import { counted } from '../../core/answers/painter.ts';
import type { Layout, LayoutInfo } from '../../core/declarations/context.ts';
import { invalid } from '../../core/values/error.ts';
import type { Command } from '../line/command.ts';
import { mayGoOn } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { Screen } from '../screen/terminal.ts';

/** Number of paths that a plan names. */
const maxShown = 12;

/** `memory-bank layout`: stores the entries of logs as files of their own, or as logs again. */
export const changeLayout: Command = {
  about:
    'show how logs are stored, or change it; entries: a file for each decision and for the progress of each session, which a server merges without a conflict; log: one file each; shows the files and asks',
  operands: ['layout?'],
  flags: {
    yes: { about: 'do not ask' },
    'dry-run': { about: 'only show the files' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, values, operands } = invocation;
    const to = layoutIn(operands[0]);
    return inSession(invocation, (session, call) =>
      app.run(session, 'layout', call, async ({ project }) => {
        const found = await project.layout(to);
        const isThere = to === undefined || (to === found.layout && found.files.length === 0);
        const json = asJson(values);
        if (!json)
          await new Screen().print(`${preview(found, isThere ? undefined : to).join('\n')}\n`);
        const isPlan = isThere || values['dry-run'] === true;
        const made =
          !isPlan && (await mayGoOn(values, 'Change it?'))
            ? await project.changeLayout(to)
            : undefined;
        await showResult(values, { ...found, commit: made?.oid ?? null }, (screen) =>
          made ? [screen.paint('good', `Done, in one commit: ${made.oid.slice(0, 12)}.`)] : [],
        );
        return 0;
      }),
    );
  },
};

function layoutIn(text: string | undefined): Layout | undefined {
  if (text === undefined || text === 'log' || text === 'entries') return text;
  throw invalid(['layout'], 'must be "log" or "entries"');
}

function preview({ layout, decisions, progress, files }: LayoutInfo, to?: Layout): string[] {
  const now = `The layout of the logs is "${layout}".`;
  if (to === undefined) return [now];
  const entries = `${counted(decisions, 'decision')} and ${counted(progress, 'progress entry')}`;
  const what =
    to === 'log'
      ? `The files of ${entries} become decisionLog.md and progress.md.`
      : `${entries} get files of their own; every tool reads them as before.`;
  const more = files.length > maxShown ? [`  and ${files.length - maxShown} more`] : [];
  return [now, what, ...files.slice(0, maxShown).map((path) => `  ${path}`), ...more];
}
