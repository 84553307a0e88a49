import type { Setting } from './config-text.ts';

/** The settings that the environment of a process gives to git. */
export interface CommandSettings {
  readonly settings: readonly Setting[];
  /** Why git refuses to run with this environment; undefined if it does not. */
  readonly problem?: string;
}

/** One quoted text of `GIT_CONFIG_PARAMETERS`, in which `'\''` is a quote. */
const quoted = /'((?:[^']|'\\['!]')*)'/y;

/**
 * Reads the settings of `git -c`, of launchers and of containers, lowest precedence first:
 * `GIT_CONFIG_COUNT` with its keys and values, then `GIT_CONFIG_PARAMETERS` (git-config).
 */
export function commandSettings(env: NodeJS.ProcessEnv): CommandSettings {
  const settings: Setting[] = [];
  const problem = readNumbered(env, settings) ?? readParameters(env, settings);
  return problem === undefined ? { settings } : { settings, problem };
}

function readNumbered(env: NodeJS.ProcessEnv, settings: Setting[]): string | undefined {
  const count = (env.GIT_CONFIG_COUNT ?? '').trim();
  if (!/^\d{0,6}$/.test(count)) return `GIT_CONFIG_COUNT is not a number: ${count}`;
  for (let i = 0; i < Number(count); i++) {
    const [key, value] = [env[`GIT_CONFIG_KEY_${i}`], env[`GIT_CONFIG_VALUE_${i}`]];
    if (key === undefined) return `GIT_CONFIG_KEY_${i} is not set`;
    if (value === undefined) return `GIT_CONFIG_VALUE_${i} is not set`;
    const name = normal(key);
    if (name === undefined) return `GIT_CONFIG_KEY_${i} is not the name of a setting: ${key}`;
    settings.push({ key: name, value });
  }
  return undefined;
}

function readParameters(env: NodeJS.ProcessEnv, settings: Setting[]): string | undefined {
  const text = (env.GIT_CONFIG_PARAMETERS ?? '').trim();
  const next = (at: number) => {
    quoted.lastIndex = at;
    return quoted.exec(text)?.[1]?.replace(/'\\(['!])'/g, '$1');
  };
  for (let at = 0; at < text.length; ) {
    const first = next(at);
    if (first === undefined) return 'GIT_CONFIG_PARAMETERS cannot be read';
    at = quoted.lastIndex;
    const isPair = text[at] === '=';
    const isImplicit = isPair && /^(?:\s|$)/.test(text.slice(at + 1, at + 2));
    const second = isPair && !isImplicit ? next(at + 1) : undefined;
    if (isPair && !isImplicit && second === undefined) {
      return 'GIT_CONFIG_PARAMETERS cannot be read';
    }
    if (isPair) at = isImplicit ? at + 1 : quoted.lastIndex;
    if (at < text.length && !/\s/.test(text[at] ?? '')) {
      return 'GIT_CONFIG_PARAMETERS cannot be read';
    }
    while (/\s/.test(text[at] ?? '')) at += 1;
    // The older form has the key and the value in one text.
    const [, name = first, old] = isPair ? [] : (/^([^=]*)=?(.*)$/s.exec(first) ?? []);
    const key = normal(name);
    if (key === undefined) return `GIT_CONFIG_PARAMETERS has no name of a setting: ${name}`;
    const value = isPair ? second : first.includes('=') ? old : undefined;
    settings.push({ key, value: value ?? 'true' });
  }
  return undefined;
}

/** The name of a setting with its section and its last part in lower case. */
function normal(key: string): string | undefined {
  const [, section, subsection = '', name] =
    /^([A-Za-z0-9-]+)(\..*)?\.([A-Za-z][A-Za-z0-9-]*)$/s.exec(key.trim()) ?? [];
  if (section === undefined || name === undefined) return undefined;
  return `${section.toLowerCase()}${subsection}.${name.toLowerCase()}`;
}
