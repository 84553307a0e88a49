import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { table, withPart } from '../support/page.ts';
import { arrows, floorsOf, rooms } from '../support/rooms.ts';

const file = resolve(import.meta.dirname, '../../docs/architecture.md');
/** Names of sub-rooms in one line of the picture. */
const inLine = 3;
/** Keeps a line of names whole, so that each floor is a line. */
const wide = '%%{init: {"flowchart": {"wrappingWidth": 400}}}%%';

it('docs/architecture.md draws and describes the rooms', async () => {
  const page = readFileSync(file, 'utf8');
  const drawn = withPart(page, 'picture', picture());
  await expect(withPart(drawn, 'rooms', reference())).toMatchFileSnapshot(file);
});

it('docs/architecture.md has no text in a picture that would end a statement', () => {
  const pictures = [...readFileSync(file, 'utf8').matchAll(/^```mermaid\n(.*?)^```/gms)];
  expect(pictures).toHaveLength(2);
  expect(pictures.filter(([, text = '']) => text.includes(';'))).toEqual([]);
});

/** The top rooms, the highest floor first: each room is above all that it imports. */
function topRooms(): string[] {
  const imported = arrows();
  const floorOf = (room: string): number =>
    1 + Math.max(0, ...[...(imported.get(room) ?? [])].map(floorOf));
  return [...rooms.keys()]
    .filter((room) => !room.includes('/'))
    .sort((a, b) => floorOf(b) - floorOf(a) || (a < b ? -1 : 1));
}

/** The rooms with their sub-rooms, and an arrow for each import of another room. */
function picture(): string {
  const all = topRooms();
  const nodes = all.map((room) => {
    const lines = floorsOf(room)
      .toReversed()
      .flatMap((floor) =>
        Array.from({ length: Math.ceil(floor.length / inLine) }, (_, i) =>
          floor.slice(i * inLine, (i + 1) * inLine).join(', '),
        ),
      );
    return `${room}["${[`<b>${room}</b>`, ...lines].join('<br/>')}"]`;
  });
  const lowest = all.at(-1);
  const drawn = all.flatMap((room) => {
    const targets = [...(arrows().get(room) ?? [])].sort();
    return targets
      .filter((target) => target !== lowest || targets.length === 1)
      .map((target) => {
        const parts = partsOf(room, target);
        return parts.length === 0 ? `${room} --> ${target}` : `${room} -- "${parts}" --> ${target}`;
      });
  });
  const lines = [...nodes, ...drawn].map((line) => `  ${line}`);
  return ['```mermaid', wide, 'flowchart TD', ...lines, '```'].join('\n');
}

/** The parts of another room that a room may import; empty for all of it. */
function partsOf(room: string, target: string): string {
  const allowed = rooms.get(room)?.imports ?? [];
  if (allowed.includes(target)) return '';
  const parts = allowed.flatMap((path) => {
    const [top, part = ''] = path.split('/');
    return top === target ? [part] : [];
  });
  return [...new Set(parts)].join(', ');
}

/** A section for each room: what it may import, and its sub-rooms. */
function reference(): string {
  const sections = topRooms().flatMap((room) => {
    const { about, packages = [] } = rooms.get(room) ?? {};
    const targets = [...(arrows().get(room) ?? [])].sort().map((target) => {
      const parts = partsOf(room, target);
      return parts === '' ? `\`${target}\`` : `\`${target}\` (${parts})`;
    });
    const allowed = targets.length === 0 ? 'nothing of ours' : targets.join(', ');
    return [
      `### ${room}`,
      `${about} It may import ${allowed}; packages: ${quoted(packages)}.`,
      table(['floor', 'sub-room', 'purpose'], subRooms(room, '', '')),
    ];
  });
  return `\n${sections.join('\n\n')}\n`;
}

/** A row for each sub-room, the highest floor first, and its own sub-rooms below it. */
function subRooms(room: string, above: string, prefix: string): string[][] {
  return floorsOf(room)
    .map((names, index) => ({ names, floor: `${prefix}${index + 1}` }))
    .toReversed()
    .flatMap(({ names, floor }) =>
      names.flatMap((name) => {
        const path = `${room}/${name}`;
        const { about = '', packages = [] } = rooms.get(path) ?? {};
        const link = `[\`${above}${name}\`](../src/${path})`;
        const own = packages.length === 0 ? '' : ` Packages: ${quoted(packages)}.`;
        return [
          [floor, link, `${about}${own}`],
          ...subRooms(path, `${above}${name}/`, `${floor}.`),
        ];
      }),
    );
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
