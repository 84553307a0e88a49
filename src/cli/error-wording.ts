import type { Toolset } from '../core/toolset.ts';
import { type Parameter, shownName } from './tool-arguments.ts';

/** An error message to agents with options instead of arguments: `--confirm` for `confirm: true`. */
export function withOptions(text: string, parameters: readonly Parameter[]): string {
  return text.replace(/\b(\w+): true\b/g, (words, argument: string) => {
    const found = parameters.find(({ name }) => name === argument);
    return found ? `--${found.flag}` : words;
  });
}

/** An error message to agents with commands instead of tools: `"memory-bank log"` for `record_history`. */
export function withCommands(text: string, toolsets: readonly Toolset[]): string {
  const tools = toolsets.flatMap((toolset) => toolset.tools.map((tool) => ({ toolset, tool })));
  // A quoted word or a part of a path is a name that a person chose, not a tool.
  return text.replace(/(?<!["'`\w/.-])[a-z]+(?:_[a-z]+)+(?!["'`\w/-]|\.\w)/g, (word) => {
    const found = tools.find(({ tool }) => tool.name === word);
    return found ? `"memory-bank ${shownName(found.toolset, found.tool)}"` : word;
  });
}
