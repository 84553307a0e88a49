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
  const { default: plugin, ...others } = await import(/* @vite-ignore */ pathToFileURL(file).href);
  // Version 1 takes the members `id` and `server` of an object, version 2 `id` and `setup`.
  expect(others).toEqual({});
  expect(plugin).toEqual({
    ...{ id: 'memory-bank', server: expect.any(Function), setup: expect.any(Function) },
  });
  const message = async (hooks: Awaited<ReturnType<typeof plugin.server>>, parts: Part[]) => {
    await hooks['chat.message']({ sessionID: 's' }, { message: { id: 'msg_1' }, parts });
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
  return { root, asked, message, start: () => plugin.server({ directory: root }), plugin };
}

/** Calls the plugin as version 2 does, and returns its hooks. */
async function setUp(plugin: { setup(context: object): Promise<void> }, directory: string) {
  const hooks = new Map<string, (event: object) => Promise<void>>();
  const hook = async (name: string, act: (event: object) => Promise<void>) => {
    hooks.set(name, act);
  };
  await plugin.setup({ location: { directory }, session: { hook }, tool: { hook }, mcp: {} });
  return hooks;
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

  it('does the same in version 2, in the system prompt and in the results of tools', async () => {
    const { root, asked, plugin } = await load('opencode', answering);
    const hooks = await setUp(plugin, root);
    const contextOf = async (sessionID: string) => {
      const system: unknown[] = [];
      await hooks.get('context')?.({ sessionID, system });
      return system;
    };
    expect(await contextOf('s')).toEqual([]);
    await hooks.get('prompt')?.({ sessionID: 's', prompt: { text: 'When do they expire?' } });
    const first = 'text of session-start\n\ntext of prompt';
    expect(await contextOf('s')).toEqual([{ type: 'text', text: first }]);
    expect(await contextOf('other')).toEqual([]);
    await hooks.get('prompt')?.({ sessionID: 's', prompt: { text: 'And then?' } });
    // The text stays the same at its beginning, which a model may keep.
    expect(await contextOf('s')).toEqual([{ type: 'text', text: `${first}\n\ntext of prompt` }]);
    const call = { sessionID: 's', id: 'call_1', tool: 'read', input: { filePath: 'a.ts' } };
    for (const [content, expected] of [
      ['the file', 'the file\n\ntext of action'],
      [[], [{ type: 'text', text: 'text of action' }]],
    ]) {
      await hooks.get('execute.before')?.(call);
      const result = { content };
      await hooks.get('execute.after')?.({ ...call, status: 'completed', result });
      expect(result.content).toEqual(expected);
    }
    await hooks.get('execute.before')?.(call);
    await hooks.get('execute.after')?.({ ...call, status: 'error', error: {} });
    await hooks.get('execute.before')?.({ ...call, tool: 'glob' });
    expect(asked().map(({ event, source }) => source ?? event)).toEqual([
      ...['clear', 'prompt', 'prompt', 'action', 'action', 'action'],
    ]);
    expect(asked()[1]).toMatchObject({ client: 'opencode', cwd: root, session_id: 's' });
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
    const { root, message, start, plugin: file } = await load('opencode', body);
    const plugin = await start();
    expect(await message(plugin, prompt())).toEqual(['When do they expire?']);
    expect(await message(plugin, [])).toEqual([]);
    const call = { tool: 'edit', sessionID: 's' };
    await plugin['tool.execute.before'](call, { args: undefined });
    const result = { output: 'edited' };
    await plugin['tool.execute.after'](call, result);
    await plugin['tool.execute.after'](call, undefined);
    expect(result).toEqual({ output: 'edited' });
    const hooks = await setUp(file, root);
    const system: unknown[] = [];
    await hooks.get('prompt')?.({ sessionID: 's' });
    await hooks.get('context')?.({ sessionID: 's', system });
    expect(system).toEqual([]);
    const config = { mcp: { other: {} } };
    await plugin.config(config);
    expect(config).toEqual({ mcp: { other: {} } });
  });
});
