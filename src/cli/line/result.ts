import { Screen } from '../screen/terminal.ts';
import type { Flags, FlagValues } from './command.ts';

/** Version of the JSON that commands other than tools print; it changes when a key goes or changes. */
const outputVersion = 1;

/** The option by which a command prints its result as JSON. */
export const outputFlag: Flags = {
  output: {
    value: 'text|json',
    choices: ['text', 'json'],
    about: 'json: the result for programs, with a version',
    default: 'text',
  },
};

/** Whether the result is to be printed as JSON. */
export function asJson(values: FlagValues): boolean {
  return values.output === 'json';
}

/** Prints a result: as JSON with the version of its shape, or as lines of text. */
export async function showResult(
  values: FlagValues,
  result: object,
  lines: (screen: Screen) => readonly string[],
): Promise<void> {
  const screen = new Screen();
  if (asJson(values)) await screen.showJson({ version: outputVersion, ...result });
  else
    await screen.show(
      lines(screen)
        .map((line) => `${line}\n`)
        .join(''),
    );
}
