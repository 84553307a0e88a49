import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { deep, sample } from '../support/depth.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { profileTools } from '../support/tool-list.ts';

const read = (page: string) => readFileSync(join(import.meta.dirname, '../..', page), 'utf8');
const clientsPage = read('docs/clients.md');
const configurationPage = read('docs/configuration.md');

/** The fenced block of a language in the section with a heading. */
function snippet(heading: string, language: string): string {
  const section = clientsPage.split(`\n### ${heading}\n`)[1]?.split('\n#')[0] ?? '';
  const block = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(section)?.[1];
  if (block === undefined) throw new Error(`docs/clients.md has no ${language} under ${heading}`);
  return block;
}

const entry = z.object({
  type: z.literal('stdio').optional(),
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
});
const named = z.object({ 'memory-bank': entry });
const mcpServers = z.object({ mcpServers: named }).transform((file) => file.mcpServers);

const clients: [string, () => z.output<typeof named>][] = [
  ['Claude Code', () => mcpServers.parse(JSON.parse(snippet('Claude Code', 'json')))],
  [
    'Codex',
    () => z.object({ mcp_servers: named }).parse(parseToml(snippet('Codex', 'toml'))).mcp_servers,
  ],
  ['Cursor', () => mcpServers.parse(JSON.parse(snippet('Cursor', 'json')))],
  [
    'VS Code',
    () => z.object({ servers: named }).parse(JSON.parse(snippet('VS Code', 'json'))).servers,
  ],
  ['Gemini CLI', () => mcpServers.parse(JSON.parse(snippet('Gemini CLI', 'json')))],
  ['Claude Desktop', () => mcpServers.parse(JSON.parse(snippet('Claude Desktop', 'json')))],
  [
    'Claude Code by its command',
    () => {
      const [line = ''] = snippet('Claude Code', 'sh').trim().split('\n');
      const [, name = '', value = '', command = '', ...args] =
        /^claude mcp add memory-bank -e (\w+)=(\w+) -- (\S+) (.*)$/.exec(line) ?? [];
      return { 'memory-bank': { command, args, env: { [name]: value } } };
    },
  ],
];

test.each(sample(clients, 2))(
  'what docs/clients.md says to configure starts the server: %s',
  async (_, configured) => {
    const { command, args, env } = configured()['memory-bank'];
    expect(['node', 'memory-bank']).toContain(command);
    const words = command === 'node' ? args : [main, ...args];
    const client = new RawClient(
      words.map((word) => word.replace('/path/to/memory-bank/dist/main.cjs', main)),
      { cwd: newFolder(), ...(env && { env }) },
    );
    client.initialize().request(1, 'tools/list');
    expect((await client.answer(1)).result.tools).toHaveLength(profileTools().length);
    expect(await client.end()).toBe(0);
    expect(client.err).toBe('');
  },
);

deep('every option of the usage text is in docs/configuration.md', () => {
  const { stdout } = spawnSync(process.execPath, [main, '--help'], { encoding: 'utf8' });
  // A quoted command of git has options of its own.
  const own = stdout.replace(/"git\s[^"]*"/g, '');
  const named = own.match(/--[a-z]+|MEMORY_BANK_[A-Z]+/g) ?? [];
  expect(named.length).toBeGreaterThan(4);
  for (const name of named) expect(configurationPage).toContain(`\`${name}`);
});
