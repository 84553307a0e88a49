import { profileVariable } from '../../../app/session/agent-profile.ts';
import type { Toolset } from '../../../core/declarations/toolset.ts';

/** The limits of a client on the tools of all its servers. */
export interface ToolLimits {
  /** Number of tools; undefined for no known limit. */
  readonly tools?: number;
  /** The text that the client writes before a name. */
  readonly prefix: string;
  /** Length of a name with the prefix, in characters. */
  readonly nameLength: number;
}

/** Says which tools a server does not list, and how to list them; undefined if it lists all. */
export function notListed(
  listed: readonly string[],
  toolsets: readonly Toolset[],
): string | undefined {
  const whole: string[] = [];
  const parts: string[] = [];
  let total = 0;
  for (const { name, tools } of toolsets) {
    const names = tools.flatMap((tool) => (tool.listed === false ? [] : tool.name));
    const missing = names.filter((one) => !listed.includes(one));
    total += names.length;
    if (missing.length === names.length) whole.push(name);
    else if (missing.length > 0) parts.push(`${missing.join(', ')} of ${name}`);
  }
  if (whole.length + parts.length === 0) return undefined;
  const others = [...(whole.length > 0 ? [whole.join(', ')] : []), ...parts].join('; ');
  return `${listed.length} of ${total} tools are listed. Not listed: ${others}. MEMORY_BANK_TOOLSETS in the "env" of the entry selects toolsets, and without ${profileVariable} and toolsets all are listed`;
}

/** Says which limits of a client a list of tools passes; undefined for none. */
export function passedLimit(
  listed: readonly string[],
  { tools = Number.POSITIVE_INFINITY, prefix, nameLength }: ToolLimits,
  title: string,
): string | undefined {
  if (listed.length > tools) {
    return `lists ${listed.length} tools, and ${title} takes at most ${tools} of all its servers together: set ${profileVariable} to "agent" in the "env" of the entry`;
  }
  const long = listed.filter((name) => prefix.length + name.length > nameLength);
  if (long.length === 0) return undefined;
  return `lists names that are longer than ${nameLength} characters with "${prefix}", which ${title} writes before them: ${long.join(', ')}`;
}
