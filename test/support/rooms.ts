import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The description and the rules of a folder of the source, as its `room.json` states them. */
export interface Room {
  /** Its purpose in one sentence. */
  readonly about: string;
  /** Files and folders below `src/` that it may import, next to its own. */
  readonly imports?: readonly string[];
  /** Packages that it may import, next to those of the rooms around it. */
  readonly packages?: readonly string[];
  /**
   * Its sub-rooms, and those of its files that sub-rooms import, from the lowest floor up: none imports one
   * above it. The other files of the room are above all of them.
   */
  readonly floors?: readonly (readonly string[])[];
  /** Its own files next to its sub-rooms, for those who look into the room from outside. */
  readonly face?: readonly string[];
  /** Whether its sub-rooms import nothing of each other. */
  readonly separate?: boolean;
}

export interface Import {
  /** Path of the importing file, relative to `src/`. */
  readonly from: string;
  /** Path relative to `src/`, or the name of a package. */
  readonly to: string;
  readonly ours: boolean;
}

export const source = resolve(import.meta.dirname, '../../src');
const statement = /^(?:import|export) (?:type )?(?:[\w*{][^'"`;]*? from )?'([^']+)'/gm;
const dynamic = /\bimport\('([^']+)'\)/g;

const entries = readdirSync(source, { withFileTypes: true, recursive: true });
const paths = (isWanted: (entry: (typeof entries)[number]) => boolean) =>
  entries
    .filter(isWanted)
    .map(({ parentPath, name }) => join(parentPath, name).slice(source.length + 1))
    .map((path) => path.replaceAll('\\', '/'));

/** The files of the source, relative to `src/`. */
export const files = paths(({ name }) => /\.(?:c?[jt]s|tsx)$/.test(name));
/** The folders of the source, relative to `src/`. */
export const folders = paths((entry) => entry.isDirectory());
export const texts = new Map(files.map((file) => [file, readFileSync(join(source, file), 'utf8')]));
/** The rooms by their folder. */
export const rooms = new Map(
  paths(({ name }) => name === 'room.json').map((file): [string, Room] => [
    dirname(file),
    JSON.parse(readFileSync(join(source, file), 'utf8')),
  ]),
);

export const imports = files.flatMap((from): Import[] => {
  const text = texts.get(from) ?? '';
  return [...text.matchAll(statement), ...text.matchAll(dynamic)].map(([, to = '']) => {
    const ours = to.startsWith('.');
    const path = ours ? join(dirname(from), to).replaceAll('\\', '/') : packageName(to);
    // The start-up file names the bundle of the command line, not its source.
    return { from, to: path.replace(/^cli\/cli\.js$/, 'cli/cli.ts'), ours };
  });
});

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Returns the rooms that each of the top rooms imports. */
export function arrows(): Map<string, Set<string>> {
  const room = (file: string) => file.split('/')[0] ?? '';
  const found = new Map<string, Set<string>>();
  for (const { from, to, ours } of imports) {
    if (!ours || to === '../package.json' || room(from) === room(to)) continue;
    found.set(room(from), (found.get(room(from)) ?? new Set()).add(room(to)));
  }
  return found;
}

/** Returns the sub-rooms of a room from the lowest floor up; those without a floor are one floor. */
export function floorsOf(room: string): string[][] {
  const own = folders
    .filter((folder) => dirname(folder) === room)
    .map((folder) => basename(folder))
    .sort();
  const floors = (rooms.get(room)?.floors ?? [])
    .map((floor) => floor.filter((name) => own.includes(name)))
    .filter((floor) => floor.length > 0);
  const placed = new Set(floors.flat());
  const others = own.filter((name) => !placed.has(name));
  return others.length > 0 ? [...floors, others] : floors;
}
