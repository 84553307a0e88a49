import { program } from '../../app/session/workspaces.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { type Parameter, shownName } from './tool-arguments.ts';

/** Words a message to agents for the command line. */
export type Wording = (text: string) => string;

/** Returns how messages are worded for a command with these parameters. */
export async function wordingFor(parameters: readonly Parameter[] = []): Promise<Wording> {
  return commandWording(await program.toolsets(), parameters);
}

/**
 * Returns how messages to agents are worded: commands instead of tools, options instead of arguments.
 *
 * `record_history` becomes `"memory-bank log"`, `feature_slug` and `confirm: true` become
 * `--feature-slug` and `--confirm`. A tool or argument whose name is one plain word is in backquotes in
 * the message.
 *
 * @param parameters of the command.
 */
export function commandWording(
  toolsets: readonly Toolset[],
  parameters: readonly Parameter[] = [],
): Wording {
  const commands = new Map(
    toolsets.flatMap((toolset) =>
      toolset.tools.map((tool) => [tool.name, `"memory-bank ${shownName(toolset, tool)}"`]),
    ),
  );
  const optionOf = (name: string) => {
    const found = parameters.find((parameter) => parameter.name === name);
    if (!found) return undefined;
    return found.position === undefined ? `--${found.flag}` : `<${found.name}>`;
  };
  return (text) => {
    const withOptions = text
      // An error of one argument begins with its name, and perhaps a place in its value.
      .replace(/^\w+(?=(?:\.\w+|\[\d+\])*: )/, (name) => optionOf(name) ?? name)
      .replace(/\b(\w+): (true|false)\b/g, (words, name: string, value: string) => {
        const found = parameters.find((parameter) => parameter.name === name);
        if (!found) return words;
        return value === 'true' ? `--${found.flag}` : `--no-${found.flag}`;
      })
      .replace(/`(\w+)`/g, (words, name: string) => optionOf(name) ?? commands.get(name) ?? words);
    // A quoted word or a part of a path is a name that a person chose, not a tool.
    return withOptions.replace(
      /(?<!["'`\w/.-])[A-Za-z]+(?:_[A-Za-z]+)+(?!["'`\w/-]|\.\w)/g,
      (word) => optionOf(word) ?? commands.get(word) ?? word,
    );
  };
}

/** An answer whose list `damaged` has its messages in other words. */
export function withWordedDamage<T extends JsonObject>(answer: T, word: Wording): T {
  const { damaged } = answer;
  if (!Array.isArray(damaged)) return answer;
  const worded = damaged.map((entry) =>
    isObject(entry) && typeof entry.message === 'string'
      ? { ...entry, message: word(entry.message) }
      : entry,
  );
  return { ...answer, damaged: worded };
}
