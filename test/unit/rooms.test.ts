import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  arrows,
  files,
  folders,
  type Import,
  imports,
  rooms,
  source,
  texts,
} from '../support/rooms.ts';

const declaration = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm;

/** The rooms around a file, the outermost first. */
function roomsAround(file: string): string[] {
  const parts = dirname(file).split('/');
  return parts.map((_, i) => parts.slice(0, i + 1).join('/')).filter((path) => rooms.has(path));
}

function allows({ from, to, ours }: Import): boolean {
  const around = roomsAround(from);
  if (!ours) {
    const packages = around.flatMap((room) => rooms.get(room)?.packages ?? []);
    return packages.some((name) => name === to || (name === 'node:*' && to.startsWith('node:')));
  }
  if (to === '../package.json') return true;
  const [top = ''] = around;
  const allowed = [`${top}/`, ...around.flatMap((room) => rooms.get(room)?.imports ?? [])];
  return allowed.some((path) => to === path || to.startsWith(path.replace(/\/?$/, '/')));
}

/** The sub-room of a room in which a file is, or the file itself if it has a floor; else undefined. */
function subRoom(room: string, file: string): string | undefined {
  const [name = '', ...rest] = file.slice(room.length + 1).split('/');
  return rest.length > 0 || rooms.get(room)?.floors?.flat().includes(name) ? name : undefined;
}

/** A cycle that begins at a node, or undefined. */
function findCycle(nodes: Iterable<string>, next: (node: string) => Iterable<string>) {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const to of next(node)) {
      const found = visit(to, [...path, node]);
      if (found) return found;
    }
    done.add(node);
    return undefined;
  };
  for (const node of nodes) {
    const found = visit(node, []);
    if (found) return found;
  }
  return undefined;
}

const describeImport = ({ from, to }: Import) => `${from} imports ${to}`;

describe('the rooms', () => {
  it('are seven, and no file is outside of them', () => {
    const entries = readdirSync(source, { withFileTypes: true });
    expect(entries.filter((entry) => !entry.isDirectory())).toEqual([]);
    expect(entries.map(({ name }) => name).sort()).toEqual([
      'app',
      'cli',
      'core',
      'git',
      'server',
      'store',
      'toolsets',
    ]);
  });

  it('have no file of more than 400 lines', () => {
    const lines = [...texts].map(([file, text]) => [file, text.split('\n').length - 1] as const);
    expect(lines.filter(([, count]) => count > 400)).toEqual([]);
  });

  it('say in one short sentence what each folder is for', () => {
    const wrong = folders.filter((folder) => {
      const { about = '' } = rooms.get(folder) ?? {};
      return about.length > 100 || !/^[A-Z`].*\.$/.test(about);
    });
    expect(wrong).toEqual([]);
  });

  it('import only what their rules allow', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
    expect(imports.filter((one) => !allows(one)).map(describeImport)).toEqual([]);
  });

  it('have at most 14 arrows between them and no cycle', () => {
    const found = arrows();
    const count = [...found.values()].reduce((sum, { size }) => sum + size, 0);
    expect(count).toBeLessThanOrEqual(14);
    expect(findCycle(found.keys(), (node) => found.get(node) ?? [])).toBeUndefined();
  });

  it('have sub-rooms that import nothing from a floor above', () => {
    const wrong: string[] = [];
    for (const [room, { floors, separate }] of rooms) {
      const inside = imports.filter(
        ({ from, to, ours }) => ours && [from, to].every((path) => path.startsWith(`${room}/`)),
      );
      const floorOf = (name: string | undefined) =>
        name === undefined ? Infinity : (floors ?? []).findIndex((floor) => floor.includes(name));
      for (const one of inside) {
        const [from, to] = [subRoom(room, one.from), subRoom(room, one.to)];
        if (from === to) continue;
        if (separate && from !== undefined) wrong.push(describeImport(one));
        if (floors && floorOf(from) <= floorOf(to)) wrong.push(describeImport(one));
      }
      const named = new Set(
        files.filter((file) => file.startsWith(`${room}/`)).map((file) => subRoom(room, file)),
      );
      if (floors) expect([...named].filter((name) => floorOf(name) < 0)).toEqual([]);
    }
    expect(wrong).toEqual([]);
  });

  it('have no file next to their sub-rooms but those of their face', () => {
    for (const [room, { face }] of rooms) {
      const inside = files.filter((file) => file.startsWith(`${room}/`));
      const own = inside.filter((file) => dirname(file) === room);
      if (own.length === inside.length) continue;
      expect({ room, face: own.map((file) => basename(file)).sort() }).toEqual({
        room,
        face: face ?? [],
      });
    }
  });

  it('import the MCP SDK in one sub-room', () => {
    const users = imports.filter(({ to }) => to === '@modelcontextprotocol/sdk');
    expect([...new Set(users.map(({ from }) => dirname(from)))]).toEqual(['server/mcp']);
  });
});

describe('the files', () => {
  it('have no cycle of imports, type imports included', () => {
    const next = new Map<string, string[]>();
    for (const { from, to, ours } of imports) {
      if (ours) next.set(from, [...(next.get(from) ?? []), to]);
    }
    expect(findCycle(files, (file) => next.get(file) ?? [])).toBeUndefined();
  });

  it('have names of their own', () => {
    const shared = ['index.ts', 'toolset.ts', 'records.ts'];
    const names = files.map((file) => basename(file)).filter((name) => !shared.includes(name));
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it('export each type name once', () => {
    const names = [...texts.values()].flatMap((text) =>
      [...text.matchAll(declaration)].map(([, name = '']) => name),
    );
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});
