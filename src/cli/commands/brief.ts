import { App } from '../../app/app.ts';
import { isUsual, keepDigest } from '../../app/hook/digest-keeping.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import type { Command, Invocation } from '../line/command.ts';
import { findCommand } from '../line/tool-command.ts';

/** The command of the tool `brief`, which also stores the digest that the next brief needs. */
export function brief(toolsets: readonly Toolset[]): Command {
  const command = findCommand(toolsets, 'brief');
  if (!command) throw new Error('There is no tool "brief".');
  return {
    ...command,
    async run(invocation) {
      const status = await command.run(invocation);
      if (status === 0) await keep(invocation).catch(() => undefined);
      return status;
    },
  };
}

/** The digest is only a saving of time, so a failure is not reported. */
async function keep({ options }: Invocation): Promise<void> {
  if (!isUsual(options)) return;
  const app = new App(options);
  try {
    await app.run(app.connect(), 'brief', {}, (context) => keepDigest(context));
  } finally {
    await app.close();
  }
}
