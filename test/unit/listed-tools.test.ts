import { expect, it } from 'vitest';
import { manifests, serverName } from '../../plugins/manifests.js';
import { clients } from '../../src/cli/setup/client/client-table.ts';
import { notListed, passedLimit } from '../../src/cli/setup/client/listed-tools.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { profileTools, toolList } from '../support/tool-list.ts';

const all = toolList(toolsets).map(({ name }) => name);
const inProfile = profileTools({ usesGraph: true, hasRemote: true }).map(({ name }) => name);
const known = Object.values(clients);
const plugin = manifests['claude-code/.claude-plugin/plugin.json']?.name;

it.each(known.map((client) => [client.title, client] as const))(
  'the profile is within the limits of %s',
  (title, { limits }) => {
    expect(passedLimit(inProfile, limits, title)).toBeUndefined();
  },
);

it.each([
  ...known.map(({ title, limits }) => [title, limits] as const),
  ['a plugin', { prefix: `mcp__plugin_${plugin}_${serverName}__`, nameLength: 64 }] as const,
])('every name fits with the prefix of %s', (title, { prefix, nameLength }) => {
  expect(passedLimit(all, { prefix, nameLength }, title)).toBeUndefined();
});

it('a list that a client does not take is named, with what to do', () => {
  const { cursor, claude } = clients;
  const many = cursor && passedLimit(all, cursor.limits, 'Cursor');
  expect(many).toMatch(/^lists 9\d tools, and Cursor takes at most 80 .* MEMORY_BANK_PROFILE/);
  const name = 'x'.repeat(47);
  const long = claude && passedLimit([name], claude.limits, 'Claude Code');
  expect(long).toContain(`longer than 64 characters with "mcp__memory-bank__"`);
  expect(long).toContain(name);
});

it('the tools that a server does not list are named by their toolset, with how to get them', () => {
  expect(notListed(all, toolsets)).toBeUndefined();
  const text = notListed(
    profileTools().map(({ name }) => name),
    toolsets,
  );
  expect(text).toContain('Not listed: graph, documents, banks, team; search_as_of, list_branches');
  expect(text).toContain('blame_record of history. MEMORY_BANK_TOOLSETS');
});
