import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { serveHttp } from '../../src/cli/commands/serve-http.ts';
import { readServeConfig } from '../../src/server/http/rest/config-file.ts';
import { deep, isFull } from '../support/depth.ts';
import { key } from '../support/http.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

const top = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(top, 'docs/deploy.md'), 'utf8');
const dockerfile = readFileSync(join(top, 'Dockerfile'), 'utf8');
const instructions = dockerfile
  .replace(/\\\n/g, '')
  .split('\n')
  .flatMap((line) => {
    const [, keyword = '', args = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return keyword === '' ? [] : [{ keyword, args }];
  });

/** Returns the arguments of all instructions of a kind. */
const all = (keyword: string) =>
  instructions.filter((one) => one.keyword === keyword).map(({ args }) => args);

/** Returns the blocks of code in a language on the page. */
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  );

/** Returns the command of the health check, for a server at another port. */
function healthCheck(port: string): string[] {
  const [, command = '[]'] = /CMD (\[.*\])$/.exec(all('HEALTHCHECK').join()) ?? [];
  return JSON.parse(command.replace(':3000', `:${port}`));
}

describe('the Dockerfile', () => {
  test('is valid', () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  test('pins its images, and leaves no files of the package manager', () => {
    for (const image of all('FROM')) expect(image).toMatch(/^node:\d+-\w+-slim(?: AS \w+)?$/);
    const system = all('RUN').filter((command) => command.includes('apt-get'));
    for (const command of system) {
      expect(command).toContain('--no-install-recommends');
      expect(command).toContain('rm -rf /var/lib/apt/lists/*');
    }
    expect(system.length).toBe(1);
    expect(all('ADD')).toEqual([]);
  });

  test('runs as another user than root, from the last stage on', () => {
    const last = instructions.map(({ keyword }) => keyword).lastIndexOf('FROM');
    const users = instructions.slice(last).filter(({ keyword }) => keyword === 'USER');
    expect(users.map(({ args }) => args)).toEqual(['node']);
  });

  test('copies only files that its context contains', () => {
    const ignored = readFileSync(join(top, '.dockerignore'), 'utf8');
    for (const name of [
      'package.json',
      'package-lock.json',
      'build.js',
      'src',
      'plugins/skills',
      'rules',
    ]) {
      expect(ignored.split('\n')).toContain(`!${name}`);
      expect(existsSync(join(top, name))).toBe(true);
    }
    expect(ignored).toMatch(/^\*$/m);
  });
});

describe('the files in the image', () => {
  const app = newFolder();
  let server: ChildProcess | undefined;
  afterAll(() => server?.kill('SIGKILL'));

  deep('are a server, whose health the check reports', async () => {
    const copied = all('COPY').flatMap(
      (args) => /^--from=build \/build\/(\S+)/.exec(args)?.[1] ?? [],
    );
    for (const name of copied) cpSync(join(top, name), join(app, name), { recursive: true });
    const [, script = ''] = JSON.parse(all('ENTRYPOINT').join());
    const args = [...JSON.parse(all('CMD').join()), '--port', '0'];
    const repo = Repo.create();
    server = spawn(process.execPath, [script.replace(/^\/app/, app), ...args], {
      cwd: repo.root,
      env: { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_API_KEYS: key },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    const port = await new Promise<string>((resolve, reject) => {
      server?.stderr?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const [, found] = /listens on \S+:(\d+),/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
      server?.once('exit', () => reject(new Error(output)));
    });
    const [program = '', ...rest] = healthCheck(port);
    expect(program).toBe('node');
    // Another process: the check would otherwise wait for this one.
    const check = () => spawnSync(process.execPath, rest).status;
    expect(check()).toBe(0);
    server.removeAllListeners('exit');
    const ended = new Promise((resolve) => server?.once('exit', resolve));
    server.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(check()).toBe(1);
  });

  const hasDocker = isFull && spawnSync('docker', ['info']).status === 0;
  test.runIf(hasDocker)(
    'are built by docker, and run without rights',
    () => {
      const docker = (...args: string[]) =>
        execFileSync('docker', args, { cwd: top, encoding: 'utf8' }).trim();
      const image = docker('build', '--quiet', '.');
      const id = docker('run', '--detach', '--rm', '--cap-drop', 'ALL', image);
      try {
        expect(docker('exec', id, 'id', '-u')).toBe('1000');
        let status: number | null = null;
        for (let i = 0; i < 30 && status !== 0; i += 1) {
          status = spawnSync('docker', ['exec', id, ...healthCheck('3000')]).status;
          if (status !== 0) execFileSync('sleep', ['1']);
        }
        expect(status).toBe(0);
      } finally {
        docker('stop', id);
      }
    },
    600_000,
  );
});

describe('docs/deploy.md', () => {
  const [config = '', compose = ''] = blocks('yaml');

  test('has a configuration that the server takes', () => {
    expect(Object.keys(readServeConfig(config).project ?? {})).toEqual(['api', 'web']);
  });

  test('starts the server with options that it has', () => {
    const [unit = ''] = blocks('ini');
    const [, line = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const { command } = parse(compose).services['memory-bank'];
    for (const words of [line.split(' '), command as string[]]) {
      expect(words).toContain('serve');
      expect(words).toContain('/etc/memory-bank/serve.yaml');
      for (const word of words.filter((one) => one.startsWith('--'))) {
        expect(serveHttp.flags).toHaveProperty(word.slice(2));
      }
    }
    // The longest answer takes two minutes.
    expect(unit).toContain('TimeoutStopSec=150\n');
    expect(parse(compose).services['memory-bank'].stop_grace_period).toBe('150s');
  });

  test('has proxies for the address that the configuration names', () => {
    const { 'allow-host': hosts = [], 'public-url': url } = readServeConfig(config);
    const [host = ''] = hosts;
    expect(url).toBe(`https://${host}`);
    const [caddy = ''] = blocks('text');
    const [nginx = ''] = blocks('nginx');
    expect(caddy).toContain(`${host} {`);
    expect(nginx).toContain(`server_name ${host};`);
    expect(nginx).toContain('proxy_set_header Host $host;');
    for (const proxy of [caddy, nginx]) {
      expect(proxy).toContain('127.0.0.1:3000');
      const count = (mark: string) => proxy.split(mark).length;
      expect(count('{')).toBe(count('}'));
    }
  });
});
