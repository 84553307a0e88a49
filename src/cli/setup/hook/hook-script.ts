import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookEvent } from '../../../app/hook/client-event.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { hookProgram } from '../program/hook-command.ts';
import type { ScriptClient } from './hook-table.ts';

/** The words by which a script is known as one of this setup. */
const mark = 'Made by "memory-bank init", which replaces this file.';
/** The answer of a hook that says nothing. */
const silence = '{"cancel":false}';

/** A script that a client runs at an event. */
export interface HookScript {
  /** Absolute. */
  readonly path: string;
  /** Whether it is started as a program. */
  readonly isProgram: boolean;
  /** The text for a program. */
  text(program: readonly string[]): string;
}

/** The plugin for opencode: next to the bundle or its chunks, and in the sources. */
const pluginFiles = ['opencode.js', '../opencode.js', '../../../../plugins/opencode.js'];

/**
 * The scripts of a client, each for sh and for PowerShell, or its plugin.
 *
 * Like a command in settings, a script cannot fail: it ends with status 0, and prints nothing but a JSON
 * object, also where the program is missing, older or broken.
 */
export function hookScripts(name: string, client: ScriptClient, root: string): HookScript[] {
  const { folder, scripts, plugin } = client;
  if (plugin !== undefined) {
    const text = (program: readonly string[]) => pluginScript(name, program);
    return [{ path: join(root, ...folder, plugin), isProgram: false, text }];
  }
  return Object.entries(scripts).flatMap(([name, event]): HookScript[] => {
    const path = join(root, ...folder, name);
    return [
      { path, isProgram: true, text: (program) => shellScript(program, event) },
      {
        path: `${path}.ps1`,
        isProgram: true,
        text: (program) => powerShellScript(program, event),
      },
    ];
  });
}

/** The plugin of opencode for a client that loads it. */
function pluginScript(client: string, program: readonly string[]): string {
  const paths = pluginFiles.map((name) => join(import.meta.dirname, name));
  const path = paths.find((one) => existsSync(one));
  if (path === undefined) throw new MemoryError('internal', 'The plugin for opencode is missing.');
  const words = program.map((word) => JSON.stringify(word)).join(', ');
  return readFileSync(path, 'utf8')
    .replace(/^const client = .*$/m, () => `const client = '${client}';`)
    .replace(/^const program = .*$/m, () => `const program = [${words}];`);
}

/**
 * A script as the setup leaves it.
 *
 * @param text the one that is there; empty for none.
 * @param wanted undefined removes it.
 * @throws MemoryError `damaged` for a script of a person.
 */
export function editScript(text: string, wanted: string | undefined): string {
  if (text === '' || text.includes(mark)) return wanted ?? '';
  if (wanted === undefined) return text;
  throw new MemoryError('damaged', 'it is a script of its own, and the client runs only one');
}

function shellScript(program: readonly string[], event: HookEvent): string {
  return `#!/bin/sh
# ${mark}
# On Windows, where Git has a shell, the script for PowerShell answers.
case $(uname -s 2>/dev/null) in MINGW*|MSYS*|CYGWIN*) printf '%s' '${silence}'; exit 0;; esac
o=$(${hookProgram(program, event).sh} 2>/dev/null) || o=
case $o in '{'*) printf '%s' "$o";; *) printf '%s' '${silence}';; esac
exit 0
`;
}

function powerShellScript(program: readonly string[], event: HookEvent): string {
  return `# ${mark}
$o = $null
try { $o = $input | & ${hookProgram(program, event).powershell} 2>$null } catch {}
if (!$LASTEXITCODE -and $o -like '{*') { $o } else { '${silence}' }
exit 0
`;
}
