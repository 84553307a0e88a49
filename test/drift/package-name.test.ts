import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { manifests } from '../../plugins/manifests.js';
import { packageName } from '../../src/cli/setup/program/own-entry.ts';

const top = resolve(import.meta.dirname, '../..');
/** A package that a command of npm names, with its version or file name. */
const named =
  /\b(?:npx(?: -y| --yes)?|npm (?:install|i|view)(?: -g)?) "?(\.?[@\w./-]*memory[\w.@/-]*)/g;

function pages(folder: string): string[] {
  return readdirSync(join(top, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|ts|js|json)$/.test(name))
    .map((name) => join(folder, name));
}

it('every page and file names the package as package.json does', () => {
  const found = ['README.md', 'SECURITY.md', ...['docs', 'plugins', 'src'].flatMap(pages)].flatMap(
    (path) =>
      [...readFileSync(join(top, path), 'utf8').matchAll(named)].map(([, name = '']) => ({
        path,
        name,
      })),
  );
  const { version } = packageJson;
  const file = `./${packageName.replace('@', '').replace('/', '-')}-${version}.tgz`;
  const right = [packageName, `${packageName}@${version}`, file];
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter(({ name }) => !right.includes(name))).toEqual([]);
});

it('the registry gets the name and the server that package.json has', () => {
  expect(manifests['server.json']).toMatchObject({
    name: packageJson.mcpName,
    packages: [{ identifier: packageName, version: packageJson.version }],
  });
  expect(packageJson.bin).toHaveProperty('memory-bank');
});
