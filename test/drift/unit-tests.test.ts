import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const tests = resolve(import.meta.dirname, '..');
const statement = /^(?:import|export) (?:[\w*{][^'"`;]*? from )?'([^']+)'/gm;
const typesOnly = /^(?:import|export) type /;

/** Lists what a test file imports at run time: names of packages, and absolute paths of files. */
function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(statement)]
    .filter(([text]) => !typesOnly.test(text))
    .map(([, name = '']) => (name.startsWith('.') ? join(dirname(file), name) : name));
}

/** Returns the chain of imports from a file to one that starts processes, if there is one. */
function wayToProcesses(file: string, seen = new Set<string>()): string[] | undefined {
  if (seen.has(file)) return undefined;
  seen.add(file);
  const imports = importsOf(file);
  if (imports.includes('node:child_process')) return [file];
  for (const imported of imports) {
    if (!imported.startsWith(tests)) continue;
    const way = wayToProcesses(imported, seen);
    if (way) return [file, ...way];
  }
  return undefined;
}

it('no file in test/unit can start a process or make a repository', () => {
  const ways = readdirSync(join(tests, 'unit'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => wayToProcesses(join(tests, 'unit', name)))
    .filter((way) => way !== undefined);
  expect(ways.map((way) => way.map((file) => relative(tests, file)).join(' > '))).toEqual([]);
  expect(wayToProcesses(join(tests, 'toolsets/history/tools.test.ts'))).toBeDefined();
});
