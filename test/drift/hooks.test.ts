import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { hookEvents } from '../../src/app/hook/client-event.ts';
import { eventsOf, hookClients } from '../../src/cli/setup/hook/hook-table.ts';
import { hookCommand } from '../../src/cli/setup/program/hook-command.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/hooks.md'), 'utf8');

it('docs/hooks.md has the settings that init writes, and their files', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  for (const [name, { path }] of Object.entries(hookClients)) {
    const file = `\`${path.join('/')}\``;
    const [, , , events] = rows.find((row) => row.includes(file))?.split('|') ?? [];
    const texts = Object.entries(eventsOf(name)).map(([event, own]) => `\`${event}\`: ${own}`);
    expect(events?.trim()).toBe(texts.join(', '));
  }
  expect(page).toContain(`\n${hookCommand(['memory-bank'], 'prompt')}\n`);
});

it('docs/hooks.md lists the events', () => {
  const rows = [...page.matchAll(/^\| (`[^|]*?) \| [^`]/gm)].flatMap(([, cell = '']) => {
    return [...cell.matchAll(/`([a-z-]+)`/g)].map(([, event = '']) => event);
  });
  expect(rows.sort()).toEqual([...hookEvents].sort());
});
