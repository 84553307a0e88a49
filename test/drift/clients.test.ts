import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { hasPersonalFile, type McpClient } from '../../src/cli/setup/client/client.ts';
import { placeText } from '../../src/cli/setup/client/client-place.ts';
import { clients } from '../../src/cli/setup/client/client-table.ts';
import {
  eventsOf,
  getsBrief,
  hookClients,
  scriptClients,
} from '../../src/cli/setup/hook/hook-table.ts';
import { table, withPart } from '../support/page.ts';

const file = resolve(import.meta.dirname, '../../docs/clients.md');

it('docs/clients.md has the table of clients', async () => {
  const rows = Object.entries(clients).map(([name, client]) => [
    `${client.title} (\`${name}\`)`,
    configuration(client),
    hooks(name),
    getsBrief(name) ? 'not needed' : `\`${client.context}\``,
    limits(client),
  ]);
  const page = withPart(
    readFileSync(file, 'utf8'),
    'clients',
    table(['client', 'file and entry', 'hooks', 'instructions', 'limits'], rows),
  );
  const trust = Object.values(clients).map(({ title, trust, trustFile, shows }) => [
    title,
    trust + (trustFile ? ` \`doctor\` reads the state in \`${placeText(trustFile.place)}\`.` : ''),
    shows,
  ]);
  await expect(
    withPart(page, 'trust', table(['client', 'approval', 'shows that it works'], trust)),
  ).toMatchFileSnapshot(file);
});

function configuration(client: McpClient): string {
  const [place = ''] = client.files;
  const keys = client.lists.map(({ keys }) => `\`${keys.join('.')}\``).join(' or ');
  const [list] = client.lists;
  const remote = Object.entries(list?.shape.remote('') ?? {}).map(([key, value]) => {
    return value === '' ? key : `${key}: ${value}`;
  });
  const scope = hasPersonalFile(client) ? ', yours' : '';
  const { waiting } = client;
  const setting = waiting ? `; \`${waiting.place}\`: \`${waiting.key}\`` : '';
  return `\`${placeText(place)}\`${scope}: ${keys}; over HTTP \`${remote.join(', ')}\`${setting}`;
}

function hooks(name: string): string {
  const events = Object.entries(eventsOf(name)).map(([event, own]) => `${event}: ${own}`);
  const path = hookClients[name]?.path ?? scriptClients[name]?.folder;
  return path ? `\`${path.join('/')}\`: ${events.join(', ')}` : 'none';
}

function limits({ limits: { tools, nameLength } }: McpClient): string {
  return `${tools === undefined ? '' : `${tools} tools, `}names of ${nameLength} characters`;
}
