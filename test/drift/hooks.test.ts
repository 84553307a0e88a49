import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { hookEvents } from '../../src/app/hook/client-event.ts';
import { hookClients } from '../../src/cli/setup/client-hooks.ts';
import hookSettings from '../../src/cli/setup/hook-settings.json' with { type: 'json' };

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/hooks.md'), 'utf8');

it('docs/hooks.md has the settings that init writes, and their files', () => {
  const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => JSON.parse(text));
  expect(blocks).toHaveLength(Object.keys(hookSettings).length);
  for (const settings of Object.values(hookSettings)) expect(blocks).toContainEqual(settings);
  for (const { path } of Object.values(hookClients))
    expect(page).toContain(`\`${path.join('/')}\``);
});

it('docs/hooks.md lists the events', () => {
  const rows = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) => {
    return [...cell.matchAll(/`([a-z-]+)`/g)].map(([, event = '']) => event);
  });
  expect(rows.sort()).toEqual([...hookEvents].sort());
});
