import type { Toolset } from '../core/toolset.ts';
import { commandName, type Parameter } from './tool-arguments.ts';

/** An error message to agents with options instead of arguments: `--confirm` for `confirm: true`. */
export function withOptions(text: string, parameters: readonly Parameter[]): string {
  return text.replace(/\b(\w+): true\b/g, (words, argument: string) => {
    const found = parameters.find(({ name }) => name === argument);
    return found ? `--${found.flag}` : words;
  });
}

/** An error message to agents with commands instead of tools: `"memory-bank log"` for `record_history`. */
export function withCommands(text: string, toolsets: readonly Toolset[]): string {
  const tools = toolsets.flatMap((toolset) => toolset.tools);
  // What is quoted or part of a path is not a tool but something that a person has named so.
  return text.replace(/(?<!["'`\w/.-])[a-z]+(?:_[a-z]+)+(?!["'`\w/-]|\.\w)/g, (word) => {
    const tool = tools.find(({ name }) => name === word);
    return tool ? `"memory-bank ${tool.command?.name ?? commandName(tool.name)}"` : word;
  });
}
