import type { ProposedEntry } from '../../core/memory/proposed-entry.ts';
import { isObject } from '../../core/values/json.ts';
import { lineAt, plainLine } from './source-text.ts';

/** Names of scripts that everybody who works on a project needs. */
const usual =
  /^(?:(?:pre)?build|test|tests|check|lint|format|fmt|typecheck|type-check|types?|dev|start|serve|run|watch|ci|verify|validate|generate|codegen|migrate|db:migrate|e2e|(?:test|lint|build|check|format|fmt|db|types?|generate)[:_-][\w:.-]{1,24})$/i;
const maxScripts = 12;
const maxCommand = 120;
const maxLine = 300;

/** Reads the scripts of a manifest, with their offsets. */
type ScriptReader = (text: string) => readonly (readonly [name: string, command: string])[];

/** The manifests in the root of a project, with the program that runs their scripts. */
const manifests: Readonly<Record<string, readonly [run: string, read: ScriptReader]>> = {
  'package.json': ['npm run', (text) => scriptsOf(text, 'scripts')],
  'composer.json': ['composer run', (text) => scriptsOf(text, 'scripts')],
  'deno.json': ['deno task', (text) => scriptsOf(text, 'tasks')],
  'deno.jsonc': ['deno task', (text) => scriptsOf(text, 'tasks')],
  Makefile: ['make', targetsOf],
  justfile: ['just', targetsOf],
  Justfile: ['just', targetsOf],
  '.justfile': ['just', targetsOf],
};

/** Programs of packages by their lock files. */
const packagers = [
  ['pnpm-lock.yaml', 'pnpm run'],
  ['yarn.lock', 'yarn run'],
  ['bun.lockb', 'bun run'],
  ['bun.lock', 'bun run'],
] as const;

/** Whether a file is a manifest in the root of the project. */
export function isManifest(path: string): boolean {
  return Object.hasOwn(manifests, path);
}

/** The commands of a manifest as one entry; undefined without any usual one. */
export function manifestScripts(
  path: string,
  text: string,
  has: (path: string) => boolean,
): ProposedEntry | undefined {
  const [usually = '', read] = manifests[path] ?? [];
  const packager = path === 'package.json' ? packagers.find(([lock]) => has(lock)) : undefined;
  const run = packager?.[1] ?? usually;
  const all = (read?.(text) ?? []).filter(([name]) => usual.test(name));
  // `test` before `test:unit`.
  const main = all.filter(([name]) => !/[:_-]/.test(name));
  const scripts = [...new Set([...main, ...all])].slice(0, maxScripts);
  const [first] = scripts;
  if (!first) return undefined;
  const lines = scripts.map(([name, command]) => {
    const said = plainLine(command);
    const short = said.length > maxCommand ? `${said.slice(0, maxCommand)}…` : said;
    return short === '' ? `- \`${run} ${name}\`` : `- \`${run} ${name}\`: \`${short}\``;
  });
  return {
    kind: 'script',
    category: 'patterns',
    key: `commands of ${path}`,
    value: `Commands of this project (${path}):\n${lines.join('\n')}`,
    source: `${path}:${lineAt(text, Math.max(0, text.indexOf(first[0])))}`,
    evidence: [path],
  };
}

function scriptsOf(text: string, field: string): [name: string, command: string][] {
  try {
    const value: unknown = JSON.parse(text);
    const scripts = isObject(value) ? value[field] : undefined;
    if (!isObject(scripts)) return [];
    return Object.entries(scripts).flatMap(([name, command]) =>
      typeof command === 'string' && !/no test specified/.test(command) ? [[name, command]] : [],
    );
  } catch {
    return [];
  }
}

/** The targets of a makefile or justfile, each with the comment above it. */
function targetsOf(text: string): [name: string, about: string][] {
  const found = new Map<string, string>();
  let comment = '';
  let isBlock = false;
  for (const whole of text.split(/\r?\n/)) {
    const line = whole.slice(0, maxLine);
    const [, about] = /^#+\s*(?!!)(.{3,100})$/.exec(line) ?? [];
    const [, name, rest = ''] =
      /^@?([A-Za-z][\w:.-]*?)(?:\s+[^:=]*)?::?(?![=\w])(.*)$/.exec(line) ?? [];
    if (name !== undefined && !found.has(name)) {
      const [, after = ''] = /##\s*(.+)$/.exec(rest) ?? [];
      found.set(name, after || comment);
    }
    // The last line of a longer comment says nothing on its own.
    if (line.startsWith('#')) [comment, isBlock] = [isBlock || !about ? '' : about, true];
    else if (!/^\.PHONY|^\[/.test(line)) [comment, isBlock] = ['', false];
  }
  return [...found];
}
