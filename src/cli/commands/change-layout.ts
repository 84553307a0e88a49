import type { Layout, LayoutInfo } from '../../core/declarations/context.ts';
import type { Command } from '../line/command.ts';
import { mayGoOn } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { Screen } from '../screen/terminal.ts';
import { conversionText, layoutIn } from '../setup/chosen-layout.ts';

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

function preview(info: LayoutInfo, to?: Layout): string[] {
  const { layout, files } = info;
  const now = `The layout of the logs is "${layout}".`;
  if (to === undefined) return [now];
  const more = files.length > maxShown ? [`  and ${files.length - maxShown} more`] : [];
  return [
    now,
    conversionText(info, to),
    ...files.slice(0, maxShown).map((path) => `  ${path}`),
    ...more,
  ];
}
