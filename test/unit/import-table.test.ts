import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** What the files of a room may import, beside each other. */
interface Room {
  /** Rooms, or single files of them. */
  readonly ours: readonly string[];
  readonly packages: readonly string[];
}

const node = 'node:*';
const sdk = '@modelcontextprotocol/sdk';
/** The seams of the program: what the faces stand on, and what puts the rooms together. */
const app = [
  'app/app.ts',
  'app/call-context.ts',
  'app/exchange/exporter.ts',
  'app/health/health.ts',
  'app/clock-and-ids.ts',
  'app/exchange/importer.ts',
  'app/merging.ts',
  'app/model.ts',
  'app/session-place.ts',
  'app/plugin-folder.ts',
  'app/project-file.ts',
  'app/exchange/html-report.ts',
  'app/health/repository-check.ts',
  'app/health/repository-kind.ts',
  'app/root.ts',
  'app/exchange/disk-source.ts',
  'app/extractive-summarizer.ts',
  'app/workspaces.ts',
];
/** What the app looks at before it opens a store. */
const git = ['config', 'discover', 'enclosure', 'files', 'obstacles', 'own-folder', 'signing'].map(
  (file) => `git/${file}.ts`,
);
const http = ['cookie-parser', 'cors', 'express', 'express-rate-limit', 'helmet'];

/** The table of the house: who may import whom. */
const table: { readonly [room: string]: Room } = {
  core: { ours: [], packages: ['zod', 'yaml', 'node:crypto', 'node:util'] },
  git: { ours: ['core/error.ts'], packages: [node, 'isomorphic-git', 'ignore'] },
  store: {
    ours: ['core', 'git'],
    packages: [node, 'zod', 'minimatch', 'minisearch', 'smol-toml', 'stemmer'],
  },
  'toolsets/*': { ours: ['core'], packages: ['zod', 'node:crypto', 'node:util'] },
  'toolsets/index.ts': { ours: ['core', 'toolsets/*'], packages: [] },
  app: {
    ours: ['core', 'store', 'toolsets/index.ts', ...git],
    packages: [node, 'zod', 'micromark', 'micromark-extension-gfm-table', 'openai'],
  },
  server: { ours: ['core', 'app', 'server/http', 'server/setup'], packages: [node, sdk] },
  'server/setup': {
    ours: ['core', 'app', 'server'],
    packages: [node, 'jsonc-parser', 'smol-toml'],
  },
  'server/http': { ours: ['core', 'app', 'server'], packages: [node, 'zod', ...http] },
  'app/library.ts': { ours: ['core', 'app'], packages: [node] },
  'main.cjs': { ours: ['server'], packages: [node] },
};

interface Import {
  /** Path of the importing file, relative to `src/`. */
  readonly from: string;
  /** Path relative to `src/`, or the name of a package. */
  readonly to: string;
  readonly ours: boolean;
  readonly type: boolean;
}

const source = resolve(import.meta.dirname, '../../src');
const statement = /^(?:import|export) (type )?(?:[\w*{][^'"`;]*? from )?'([^']+)'/gm;
const dynamic = /\bimport\('([^']+)'\)/g;

const files = readdirSync(source, { encoding: 'utf8', recursive: true })
  .filter((file) => /\.c?[jt]s$/.test(file))
  .map((file) => file.replaceAll('\\', '/'));
const imports = files.flatMap((from): Import[] => {
  const text = readFileSync(join(source, from), 'utf8');
  return [
    ...[...text.matchAll(statement)].map(([, type, to = '']) => ({ to, type: type !== undefined })),
    ...[...text.matchAll(dynamic)].map(([, to = '']) => ({ to, type: false })),
  ].map(({ to, type }) => {
    const ours = to.startsWith('.');
    const place = ours ? join(dirname(from), to).replaceAll('\\', '/') : packageName(to);
    return { from, to: place, ours, type };
  });
});

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function roomOf(file: string): string {
  if (app.includes(file)) return 'app';
  const [first = '', second = ''] = file.split('/');
  const divided =
    first === 'toolsets' || (first === 'server' && (second === 'http' || second === 'setup'));
  return divided ? `${first}/${second}` : first;
}

function allows({ from, to, ours }: Import): boolean {
  const here = roomOf(from);
  const room = table[here.replace(/^toolsets\/.*/, 'toolsets/*')];
  if (!room) return false;
  if (!ours) {
    return room.packages.some((name) => name === to || (name === node && to.startsWith('node:')));
  }
  const there = roomOf(to);
  if (there === here || to === '../package.json') return true;
  return room.ours.some((name) =>
    [to, there, there.replace(/^toolsets\/.*/, 'toolsets/*')].includes(name),
  );
}

describe('the rooms', () => {
  it('import only what the table allows', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
    const wrong = imports.filter((one) => !allows(one));
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('import the MCP SDK in one file', () => {
    const users = imports.filter(({ to }) => to === sdk).map(({ from }) => from);
    expect([...new Set(users)]).toEqual(['server/mcp/mcp.ts']);
  });

  it('have no circle of imports', () => {
    const next = new Map<string, string[]>();
    for (const { from, to, ours, type } of imports) {
      if (ours && !type) next.set(from, [...(next.get(from) ?? []), to]);
    }
    const done = new Set<string>();
    const circle = (file: string, path: readonly string[]): readonly string[] | undefined => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const to of next.get(file) ?? []) {
        const found = circle(to, [...path, file]);
        if (found) return found;
      }
      done.add(file);
      return undefined;
    };
    expect(files.map((file) => circle(file, [])).filter((found) => found)).toEqual([]);
  });
});
