import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deep, describeDeep, sample } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';
import { skipWithoutLinks } from '../support/windows.ts';

/** Time limit of a program that may read forever, in milliseconds. */
const hangs = 60_000;

/** A foreign repository, a home directory, and a folder outside both. */
class Scene {
  readonly #top = newFolder();
  readonly repo = Repo.in(join(this.#top, 'project')).begin();
  readonly home = join(this.#top, 'home');
  readonly out = join(this.#top, 'out');

  constructor() {
    for (const folder of [this.home, this.out]) mkdirSync(folder);
    this.write(join(this.out, 'x.json'), '{"mine": true}\n');
    this.write(join(this.home, '.bashrc'), 'alias ll="ls -l"\n');
    for (const place of ['memory-bank', 'cline_docs'])
      this.write(join(this.out, place, 'progress.md'), '# Progress\n\nprivate\n');
    this.write(join(this.out, 'docs/adr/0001-a.md'), '# 1. A\n\n## Status\n\nprivate\n');
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  link(path: string, target: string): void {
    mkdirSync(dirname(this.repo.path(path)), { recursive: true });
    symlinkSync(target, this.repo.path(path));
  }

  pipe(path: string): string {
    mkdirSync(dirname(this.repo.path(path)), { recursive: true });
    execFileSync('mkfifo', [this.repo.path(path)]);
    return this.repo.path(path);
  }

  run(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
      cwd: this.repo.root,
      env: { PATH: process.env.PATH, HOME: this.home, MEMORY_BANK_DURABILITY: 'relaxed' },
      encoding: 'utf8',
      timeout: hangs,
    });
    return { status, stdout, text: stdout + stderr };
  }

  /** Every file outside the project, with its text. */
  outside(): object {
    return Object.fromEntries(
      [this.home, this.out].flatMap((top) =>
        readdirSync(top, { recursive: true, encoding: 'utf8' }).map((name) => {
          const path = join(top, name);
          return [path, lstatSync(path).isFile() ? readFileSync(path, 'utf8') : ''];
        }),
      ),
    );
  }
}

skipWithoutLinks();

describe('init', () => {
  const setUp = ['init', '--yes', '--clients', 'claude,cursor', '--instructions', 'CLAUDE.md'];

  const links: [what: string, path: string, target: string][] = [
    ['a file outside', '.mcp.json', '../out/x.json'],
    ['a folder outside', '.cursor', '../out'],
    ['a file of the home directory', 'CLAUDE.md', '../home/.bashrc'],
    ['git', 'CLAUDE.md', '.git/config'],
    ['a new hook', 'CLAUDE.md', '.git/hooks/post-commit'],
    ['nothing', '.mcp.json', '../out/new.json'],
    ['itself', '.cursor', '.cursor'],
    ['a device', '.mcp.json', '/dev/zero'],
  ];
  test.each(sample(links, 1))('does not write through a link to %s', (_, path, target) => {
    const scene = new Scene();
    scene.link(path, target);
    const before = scene.outside();
    const { status, text } = scene.run(...setUp);
    expect(text).toContain(`${scene.repo.path(path)} is a symbolic link`);
    expect(status).toBe(6);
    expect(scene.outside()).toEqual(before);
    expect(readlinkSync(scene.repo.path(path))).toBe(target);
    expect(scene.repo.read('.git/config')).not.toContain('search_memory');
    // The other clients are configured nevertheless.
    expect(existsSync(scene.repo.path('.memory-bank/config.yaml'))).toBe(true);
    expect(scene.run('init', '--undo', '--yes').status).toBe(0);
    expect(scene.outside()).toEqual(before);
  });

  deep('does not wait for a pipe', () => {
    const scene = new Scene();
    const pipe = scene.pipe('.mcp.json');
    const { status, text } = scene.run(...setUp);
    expect(text).toContain(`${pipe} is not a regular file`);
    expect(status).toBe(6);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  deep('shows and writes the target of a link inside the project', () => {
    const scene = new Scene();
    scene.repo.write('AGENTS.md', '# Agents\n');
    scene.repo.write('.mcp.json', '{\n  "mcpServers": {}\n}\n');
    scene.link('CLAUDE.md', 'AGENTS.md');
    scene.link('.cursor/mcp.json', '../.mcp.json');
    const { status, text } = scene.run(...setUp);
    expect({ status, text }).toMatchObject({ status: 0 });
    expect(text).toContain(`+++ ${scene.repo.path('AGENTS.md')}\n`);
    expect(text).not.toContain(scene.repo.path('CLAUDE.md'));
    expect(scene.repo.read('AGENTS.md')).toContain('search_memory');
    expect(text.match(/^\+\+\+ .*mcp\.json$/gm)).toEqual([`+++ ${scene.repo.path('.mcp.json')}`]);
    expect(JSON.parse(scene.repo.read('.mcp.json')).mcpServers['memory-bank'].command).toBe(
      'memory-bank',
    );
    for (const path of ['CLAUDE.md', '.cursor/mcp.json'])
      expect(lstatSync(scene.repo.path(path)).isSymbolicLink()).toBe(true);
    expect(scene.run('init', '--undo', '--yes').status).toBe(0);
    expect(scene.repo.read('AGENTS.md')).toBe('# Agents\n');
  });

  deep('follows links of the user’s own configuration', () => {
    const scene = new Scene();
    scene.write(join(scene.out, 'codex.toml'), 'model = "x"\n');
    mkdirSync(join(scene.home, '.codex'));
    symlinkSync('../../out/codex.toml', join(scene.home, '.codex/config.toml'));
    const { status, text } = scene.run('init', '--yes', '--clients', 'codex');
    expect({ status, text }).toMatchObject({ status: 0 });
    expect(text).toContain(`+++ ${join(scene.out, 'codex.toml')}\n`);
    expect(readFileSync(join(scene.out, 'codex.toml'), 'utf8')).toContain('memory-bank');
    expect(scene.run('init', '--undo', '--yes', '--clients', 'all').status).toBe(0);
    expect(readFileSync(join(scene.out, 'codex.toml'), 'utf8')).toBe('model = "x"\n');
  });

  deep.each(sample(['a pipe', 'a device', 'a folder'], 1))(
    'commits despite an include of %s',
    (kind) => {
      const scene = new Scene();
      const path =
        kind === 'a pipe' ? scene.pipe('pipe') : kind === 'a device' ? '/dev/zero' : scene.out;
      scene.write(
        join(scene.home, '.gitconfig'),
        `[include]\n\tpath = ${path}\n[user]\n\temail = me@example.org\n`,
      );
      const { status, text } = scene.run('init', '--yes', '--clients', 'none');
      expect({ status, text }).toMatchObject({ status: 0 });
      expect(scene.repo.git('log', '-1', '--format=%s')).toContain('memory');
    },
  );
});

describeDeep('doctor', () => {
  test.each([
    ['a device', '/dev/zero'],
    ['a file outside', '../out/x.json'],
    ['nothing', 'nowhere'],
    ['itself', '.mcp.json'],
  ])('names a configuration that is a link to %s', (_, target) => {
    const scene = new Scene();
    scene.link('.mcp.json', target);
    const { status, text } = scene.run('doctor');
    expect(text).toContain(`${scene.repo.path('.mcp.json')} is a symbolic link`);
    expect(status).toBe(6);
  });

  test('ends if configurations and attributes are pipes and devices', () => {
    const scene = new Scene();
    expect(scene.run('init', '--yes', '--clients', 'none').status).toBe(0);
    scene.pipe('.mcp.json');
    scene.link('.vscode', '.vscode');
    execFileSync('rm', [scene.repo.path('.memory-bank/.gitattributes')]);
    scene.link('.memory-bank/.gitattributes', '/dev/zero');
    scene.link('.clinerules-code', '/dev/zero');
    const { status, text } = scene.run('doctor');
    expect(status).toBe(6);
    for (const path of ['.mcp.json', '.vscode', '.memory-bank/.gitattributes'])
      expect(text).toContain(`${scene.repo.path(path)} is `);
    expect(text).toContain('.clinerules-code sets no mode');
  });
});

describeDeep('import', () => {
  test.each([
    ['a folder outside', 'memory-bank', '../out/memory-bank', 'memory-bank'],
    ['another', 'cline_docs', '../out/cline_docs', 'cline_docs'],
    ['a folder above outside', 'docs', '../out/docs', 'docs/adr'],
    ['nothing', 'memory-bank', '../out/nowhere', 'memory-bank'],
    ['git', 'memory-bank', '.git/hooks', 'memory-bank'],
  ])('does not follow a link to %s', (_, path, target, place) => {
    const scene = new Scene();
    scene.repo.write(
      'memory.jsonl',
      '{"type":"entity","name":"Kept","entityType":"x","observations":["o"]}\n',
    );
    scene.link(path, target);
    const { status, text } = scene.run('import');
    expect(status).toBe(0);
    expect(text).toContain(`${place}: ${scene.repo.path(path)} is a symbolic link`);
    expect(text).toContain('memory.jsonl');
    expect(scene.repo.git('log', '-p', '--all')).not.toContain('private');
    const given = scene.run('import', place);
    expect(given.text).toContain(`${scene.repo.path(path)} is a symbolic link`);
    expect(given.status).not.toBe(0);
    expect(scene.repo.git('log', '-p', '--all')).not.toContain('private');
  });

  test('imports named files, and the target of a link inside the project', () => {
    const scene = new Scene();
    scene.repo.write('old/progress.md', '# Progress\n\ninside\n');
    scene.link('memory-bank', 'old');
    expect(scene.run('import')).toMatchObject({ status: 0 });
    expect(scene.repo.git('log', '-p', '--all')).toContain('inside');
    expect(scene.run('import', '--overwrite', '../out/memory-bank')).toMatchObject({ status: 0 });
    expect(scene.repo.git('log', '-p', '--all')).toContain('private');
  });
});

describeDeep('show and export', () => {
  test('neither print nor write through a link', () => {
    const scene = new Scene();
    expect(scene.run('init', '--yes', '--clients', 'none').status).toBe(0);
    scene.repo.write('.memory-bank/notes.md', '# Notes\n');
    scene.link('.memory-bank/progress.md', '../../home/.bashrc');
    expect(scene.run('show', 'progress.md').text).not.toContain('alias');
    scene.link('exported', '../out');
    const before = scene.outside();
    const { status, text } = scene.run('export', 'markdown', 'exported');
    expect(text).toContain(`${scene.repo.path('exported')} is a symbolic link`);
    expect(status).not.toBe(0);
    expect(scene.outside()).toEqual(before);
    expect(scene.run('export', 'markdown', '../out/new').status).toBe(0);
  });

  test('rules are not read through a folder that is a link', () => {
    const scene = new Scene();
    expect(scene.run('init', '--yes', '--clients', 'none').status).toBe(0);
    scene.write(
      join(scene.out, 'rules/evil.json'),
      JSON.stringify({ mode: 'evil', instructions: { general: ['x'] } }),
    );
    scene.link('.memory-bank/rules', '../../out/rules');
    const { text } = scene.run('doctor');
    expect(text).toContain('.memory-bank/rules sets no mode');
    expect(text).not.toContain('evil');
  });
});
