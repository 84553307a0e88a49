import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { make, writeTypes } from '../../build.js';
import packageJson from '../../package.json' with { type: 'json' };
import { deep, describeDeep } from '../support/depth.ts';
import { newFolder, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

const top = resolve(import.meta.dirname, '../..');
const clone = newFolder();
/** Where the tarball is installed: an empty folder before. */
const user = newFolder();
const installed = join(user, 'node_modules/memory-bank');
const env = {
  PATH: process.env.PATH,
  HOME: newFolder(),
  npm_config_cache: newFolder(),
  npm_config_update_notifier: 'false',
};
let packed: { readonly files: readonly { readonly path: string }[]; readonly unpackedSize: number };

function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Copies the clone with the current build: npm changes package.json while it packs. */
function copyClone(): void {
  const text = readFileSync(join(top, 'dist/main.cjs'), 'utf8');
  const [build = ''] = /builds\/\w+/.exec(text) ?? [];
  const listed = execFileSync('git', ['ls-files', '-z', ':!test'], { cwd: top, encoding: 'utf8' });
  const built = ['main.cjs', 'library.js', 'THIRD-PARTY.txt', 'builds/.npmignore', build];
  for (const name of [
    ...listed.split('\0').filter(Boolean),
    ...built.map((one) => `dist/${one}`),
  ]) {
    cpSync(join(top, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(top, 'node_modules'), join(clone, 'node_modules'));
}

beforeAll(() => {
  copyClone();
  const tarballs = newFolder();
  // The lines of the scripts come before.
  const told = npm(clone, 'pack', '--json', '--pack-destination', tarballs);
  [packed] = JSON.parse(told.slice(told.indexOf('[\n')));
  writeFileSync(join(user, 'package.json'), '{ "private": true, "type": "module" }');
  const [tarball = ''] = readdirSync(tarballs);
  npm(user, 'install', '--offline', '--no-audit', '--no-fund', join(tarballs, tarball));
});

describeDeep('the package', () => {
  test('has the bundle, the rules, the schemas, the pages, and nothing else', () => {
    const named = packed.files.map(({ path }) =>
      path
        .replace(/builds\/[0-9a-f]{16}/, 'builds/*')
        .replace(/chunks\/.*?-[0-9A-Z]{8}\.js/, 'chunks/*.js')
        .replace(/^(docs|schemas)\/.*/, '$1/*'),
    );
    expect([...new Set(named)].sort()).toMatchInlineSnapshot(`
      [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "dist/THIRD-PARTY.txt",
        "dist/builds/*/chunks/*.js",
        "dist/builds/*/chunks/*.js.map",
        "dist/builds/*/chunks/package.json",
        "dist/builds/*/cli.js",
        "dist/builds/*/cli.js.map",
        "dist/builds/*/library.js",
        "dist/builds/*/library.js.map",
        "dist/builds/*/opencode.js",
        "dist/builds/*/package.json",
        "dist/builds/*/page/app.html",
        "dist/builds/*/page/copy-start.js",
        "dist/builds/*/page/copy.js",
        "dist/builds/*/page/icon.svg",
        "dist/builds/*/page/index.html",
        "dist/builds/*/page/page.js",
        "dist/builds/*/page/style.css",
        "dist/builds/*/quick-search.cjs",
        "dist/builds/*/quick-search.cjs.map",
        "dist/builds/*/quick.cjs",
        "dist/builds/*/quick.cjs.map",
        "dist/builds/*/skills/recall/SKILL.md",
        "dist/builds/*/skills/remember/SKILL.md",
        "dist/builds/*/skills/review-memory/SKILL.md",
        "dist/builds/*/skills/tend-memory/SKILL.md",
        "dist/library.js",
        "dist/main.cjs",
        "dist/types/app/library.d.ts",
        "dist/types/core/values/error.d.ts",
        "dist/types/core/values/json.d.ts",
        "docs/*",
        "package.json",
        "rules/architect.json",
        "rules/ask.toml",
        "rules/code.yaml",
        "rules/debug.yaml",
        "rules/test.toml",
        "schemas/*",
        "words/software.words",
      ]
    `);
    expect(packed.unpackedSize).toBeLessThan(14_000_000);
  });

  test('has no script that npm runs at an installation, and the clone keeps its own', () => {
    const { scripts, ...about } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const run = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare'];
    expect(Object.keys(scripts).filter((name) => run.includes(name))).toEqual([]);
    expect(about).toMatchObject({ name: packageJson.name, bin: packageJson.bin });
    const [before, after] = [top, clone].map((one) =>
      readFileSync(join(one, 'package.json'), 'utf8'),
    );
    expect(after).toBe(before);
    expect(packageJson.scripts).toHaveProperty('prepare');
  });

  test('has its true package.json again after a run that was stopped', () => {
    const script = join(clone, 'pack.js');
    const path = join(clone, 'package.json');
    const before = readFileSync(path, 'utf8');
    for (const word of ['begin', 'begin']) {
      execFileSync(process.execPath, [script, word], { cwd: clone });
      expect(JSON.parse(readFileSync(path, 'utf8')).scripts).not.toHaveProperty('prepare');
    }
    execFileSync(process.execPath, [script, 'end'], { cwd: clone });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test('has every file that its README links to', () => {
    const text = readFileSync(join(installed, 'README.md'), 'utf8');
    const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => link);
    const { origin, pathname } = new URL(packageJson.homepage);
    const missing = links.filter((link) =>
      /^\w+:/.test(link)
        ? !link.startsWith(`${origin}${pathname}`)
        : !existsSync(join(installed, link)),
    );
    expect(links.length).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });

  test('can be installed as an unpacked folder, where it has nothing to build', () => {
    const other = newFolder();
    writeFileSync(join(other, 'package.json'), '{ "private": true }');
    cpSync(installed, join(other, 'unpacked'), { recursive: true });
    // As a link, npm would look up the packages for development, which are not in the cache.
    npm(other, 'install', '--offline', '--install-links', '--no-audit', '--no-fund', './unpacked');
    expect(npm(other, 'exec', '--offline', '--', 'memory-bank', '--version')).toContain(
      `${packageJson.version}+`,
    );
  });

  test('needs no other package, and tells the licences of those that it holds', () => {
    expect(readdirSync(join(user, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(
      ['memory-bank'],
    );
    expect(packageJson).not.toHaveProperty('dependencies');
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY.txt'), 'utf8');
    const licences = [...notices.matchAll(/^-{80}\n\n(\S+) \S+ \((.*)\)$/gm)];
    expect(licences.map(([, name]) => name)).toEqual(
      expect.arrayContaining(['isomorphic-git', 'zod', 'yaml', '@modelcontextprotocol/sdk']),
    );
    const kinds = new Set(licences.map(([, , licence]) => licence));
    const free = [
      '0BSD',
      'Apache-2.0',
      'BSD-2-Clause',
      'BSD-3-Clause',
      'BlueOak-1.0.0',
      'ISC',
      'MIT',
    ];
    expect(
      [...kinds].filter((licence = '') => !free.includes(licence.replace(/^\((.*) AND.*/, '$1'))),
    ).toEqual([]);
  });

  test('knows nothing of the machine on which it was made', () => {
    const told = [top, homedir(), hostname()].filter((text) => text.length > 6);
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
      .map((name) => join(installed, name))
      .filter((path) => statSync(path).isFile());
    expect(files.length).toBeGreaterThan(50);
    for (const path of files) {
      const text = readFileSync(path, 'latin1');
      expect(
        told.filter((one) => text.includes(one)),
        path,
      ).toEqual([]);
    }
  });

  test('has maps that lead to the sources, without their text', () => {
    const builds = join(installed, 'dist/builds');
    // Only the current build is in the package.
    const [build = '', ...more] = readdirSync(builds);
    expect(more).toEqual([]);
    const map = JSON.parse(readFileSync(join(builds, build, 'library.js.map'), 'utf8'));
    expect(map.sources).toContain('../../../src/app/library.ts');
    expect(map).not.toHaveProperty('sourcesContent');
  });
});

deep(
  'a build without --types keeps the declarations that are there, and keeps them true',
  async () => {
    const outdir = newFolder();
    const declarations = join(outdir, 'types/app/library.d.ts');
    await make(outdir, false);
    expect(existsSync(declarations)).toBe(false);
    await writeTypes('app/library.ts', join(outdir, 'types'));
    const text = readFileSync(declarations, 'utf8');
    const changed = `${text}// changed\n`;
    writeFileSync(declarations, changed);
    await make(outdir, false);
    expect(readFileSync(declarations, 'utf8')).toBe(changed);
    utimesSync(declarations, 1, 1);
    await make(outdir, false);
    expect(readFileSync(declarations, 'utf8')).toBe(text);
  },
);

describeDeep('installed in an empty folder', () => {
  test('it starts by npx and serves a project', async () => {
    expect(npm(user, 'exec', '--offline', '--', 'memory-bank', '--version')).toContain(
      `${packageJson.version}+`,
    );
    const client = new RawClient([join(user, 'node_modules/.bin/memory-bank')], {
      cwd: newFolder(),
    })
      .initialize()
      .request(1, 'tools/list');
    expect((await client.answer('init')).result.serverInfo.name).toBe('memory-bank');
    expect((await client.answer(1)).result.tools.length).toBeGreaterThan(70);
    client.call(2, 'switch_mode', { mode: 'architect' });
    expect((await client.answer(2)).result.isError).toBeUndefined();
    expect(await client.end()).toBe(0);
    expect(client.err).toBe('');
  });

  test('it is a library, with types', () => {
    const { root } = Repo.create();
    writeFileSync(
      join(user, 'consumer.ts'),
      `import { type Answer, MemoryError, openMemory } from 'memory-bank';

const memory = await openMemory({ root: ${JSON.stringify(root)}, agent: 'consumer/1.0' });
const names: string[] = (await memory.tools()).map((tool) => tool.name);
const entry = { category: 'patterns', key: 'k', value: 'v' };
const written: Answer = await memory.call('memory_write', entry);
const read = await memory.call('memory_read', { key: 'k' });
let code: 'invalid_input' | string | undefined;
try {
  await memory.call('memory_read', { limit: -1 });
} catch (error) {
  if (error instanceof MemoryError) code = error.code;
}
await memory.close();
// @ts-expect-error: a number is no root
void (() => openMemory({ root: 1 }));
export default { names, written, read, code };
`,
    );
    const tsc = join(top, 'node_modules/typescript/bin/tsc');
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', ''];
    execFileSync(process.execPath, [tsc, ...options, '--ignoreConfig', 'consumer.ts'], {
      cwd: user,
    });
    const script =
      "import('./consumer.js').then(({ default: told }) => console.log(JSON.stringify(told)))";
    const told = JSON.parse(
      execFileSync(process.execPath, ['-e', script], { cwd: user, env, encoding: 'utf8' }),
    );
    expect(told.names).toContain('memory_write');
    expect(told).toMatchObject({
      written: { commit: expect.stringMatching(/^[0-9a-f]{40,64}$/), branch: 'main' },
      read: { body: { entries: [{ key: 'k', value: 'v' }] } },
      code: 'invalid_input',
    });
    const message = execFileSync('git', ['log', '-1', '--format=%B'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(message).toContain('Memory-Agent: consumer/1.0');
  });
});
