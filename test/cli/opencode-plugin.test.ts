import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { hookScripts } from '../../src/cli/setup/hook/hook-script.ts';
import { scriptClients } from '../../src/cli/setup/hook/hook-table.ts';
import { newFolder } from '../support/process.ts';

const path = process.env.PATH;
afterAll(() => {
  process.env.PATH = path;
});

/** A program that keeps what it is asked, and answers with the event and the client. */
const answering = `read -r input; echo "$2 $input" >> "$(dirname "$0")/asked"
printf '{"hookSpecificOutput":{"additionalContext":"text of %s"}}' "$2"`;

interface Part {
  readonly id: string;
  readonly text?: string;
  readonly synthetic?: boolean;
}

/** Loads the plugin as `init` writes it, with a program on the PATH. */
async function load(name: 'opencode' | 'kilo', body: string | undefined) {
  const root = newFolder();
  const bin = join(root, 'bin');
  mkdirSync(bin);
  for (const tool of ['sh', 'dirname']) symlinkSync(`/bin/${tool}`, join(bin, tool));
  if (body !== undefined) {
    writeFileSync(join(bin, 'memory-bank'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  }
  const client = scriptClients[name];
  const [script] = client ? hookScripts(name, client, root) : [];
  const file = join(root, 'plugin.mjs');
  writeFileSync(file, script?.text(['memory-bank']) ?? '');
  process.env.PATH = [bin].join(delimiter);
  const { MemoryBank, ...others } = await import(/* @vite-ignore */ pathToFileURL(file).href);
  // It would call every other export as a plugin.
  expect(others).toEqual({});
  const message = async (plugin: Awaited<ReturnType<typeof MemoryBank>>, parts: Part[]) => {
    await plugin['chat.message']({ sessionID: 's' }, { message: { id: 'msg_1' }, parts });
    return parts.map(({ text }) => text);
  };
  const asked = () =>
    readFileSync(join(bin, 'asked'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => ({
        event: line.slice(0, line.indexOf(' ')),
        ...JSON.parse(line.slice(line.indexOf(' '))),
      }));
  return { root, asked, message, start: () => MemoryBank({ directory: root }) };
}

const prompt = (): Part[] => [{ id: 'prt_1', type: 'text', text: 'When do they expire?' } as Part];

describe.skipIf(process.platform === 'win32')('the plugin of opencode', () => {
  it('adds a brief once, records to each prompt, and records to the result of a tool', async () => {
    const { root, asked, message, start } = await load('opencode', answering);
    const plugin = await start();
    const parts = prompt();
    const first = ['When do they expire?', 'text of session-start\n\ntext of prompt'];
    expect(await message(plugin, parts)).toEqual(first);
    expect(parts[1]).toMatchObject({ synthetic: true, sessionID: 's', messageID: 'msg_1' });
    // A copy of the plugin in another folder of settings.
    expect(await message(await start(), parts)).toEqual(first);
    expect(await message(plugin, prompt())).toEqual(['When do they expire?', 'text of prompt']);
    await plugin.event({ event: { type: 'session.compacted', properties: { sessionID: 's' } } });
    expect(await message(plugin, prompt())).toEqual(first);
    const call = { tool: 'read', sessionID: 's' };
    await plugin['tool.execute.before'](call, { args: { filePath: 'a.ts' } });
    const result = { output: 'the file' };
    await plugin['tool.execute.after'](call, result);
    expect(result.output).toBe('the file\n\ntext of action');
    const other = { output: 'a list' };
    await plugin['tool.execute.before']({ ...call, tool: 'glob' }, { args: {} });
    await plugin['tool.execute.after']({ ...call, tool: 'glob' }, other);
    expect(other.output).toBe('a list');
    const all = asked();
    expect(all.map(({ event, source }) => source ?? event)).toEqual([
      ...['startup', 'prompt', 'prompt', 'compact', 'prompt', 'action'],
    ]);
    expect(all[1]).toMatchObject({ client: 'opencode', cwd: root, prompt: 'When do they expire?' });
    expect(all[5]).toMatchObject({ tool_name: 'read', tool_input: { filePath: 'a.ts' } });
  });

  it('is the same for Kilo Code, under its name', async () => {
    const { asked, message, start } = await load('kilo', answering);
    await message(await start(), prompt());
    expect(asked()[0]).toMatchObject({ client: 'kilo', session_id: 's' });
  });

  it.each([
    ['a missing program', undefined],
    ['an older program', 'echo Usage >&2; exit 2'],
    ['a program that prints something else', 'echo Usage'],
    ['a program with an answer of no text', "echo '{}'"],
    ['a program that fails after an answer', `${answering}; exit 2`],
    ['a program that does not read its input', 'exec 0<&-; exit 0'],
  ])('adds nothing and never fails: %s', async (_, body) => {
    const { message, start } = await load('opencode', body);
    const plugin = await start();
    expect(await message(plugin, prompt())).toEqual(['When do they expire?']);
    expect(await message(plugin, [])).toEqual([]);
    const call = { tool: 'edit', sessionID: 's' };
    await plugin['tool.execute.before'](call, { args: undefined });
    const result = { output: 'edited' };
    await plugin['tool.execute.after'](call, result);
    await plugin['tool.execute.after'](call, undefined);
    expect(result).toEqual({ output: 'edited' });
    const config = { mcp: { other: {} } };
    await plugin.config(config);
    expect(config).toEqual({ mcp: { other: {} } });
  });
});
