import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Enclosure } from '../../src/git/repository/enclosure.ts';
import { piped, skipWithoutLinks } from '../support/windows.ts';
import { create } from './create.ts';

function outside(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'outside-')));
  writeFileSync(join(folder, 'a.md'), 'private');
  return folder;
}

describe('a link in a path of a project', () => {
  skipWithoutLinks();

  test.each([
    ['leads out', 'a', (out: string) => out, 'a/a.md'],
    ['leads out by two links', 'a', () => 'b', 'a/a.md'],
    ['leads out as a file', 'a.md', (out: string) => join(out, 'a.md'), 'a.md'],
    ['leads above', 'a', () => '..', 'a'],
    ['leads into git', 'a', () => '.git', 'a/config'],
    ['leads nowhere', 'a.md', () => 'nowhere', 'a.md'],
    ['leads to itself', 'a', () => 'a', 'a/b'],
    ['is a device', 'a.md', () => '/dev/zero', 'a.md'],
  ])('is refused by the name of a link that %s', (_, link, target, path) => {
    const repo = create();
    const out = outside();
    symlinkSync(out, repo.path('b'));
    symlinkSync(target(out), repo.path(link));
    const enclosure = Enclosure.ofProject(repo.root);
    const refused = expect.objectContaining({
      code: 'damaged',
      message: expect.stringContaining(`${repo.path(link)} is a symbolic link`),
    });
    expect(() => enclosure.resolve(repo.path(path))).toThrow(refused);
    expect(() => enclosure.read(repo.path(path), 100)).toThrow(refused);
  });

  test('is followed inside the repository, also out of a subfolder', () => {
    const repo = create();
    repo.write('AGENTS.md', 'agents');
    mkdirSync(repo.path('packages/one'), { recursive: true });
    symlinkSync('../../AGENTS.md', repo.path('packages/one/CLAUDE.md'));
    const enclosure = Enclosure.ofProject(repo.path('packages/one'));
    const path = repo.path('packages/one/CLAUDE.md');
    expect(enclosure.resolve(path)).toBe(repo.path('AGENTS.md'));
    expect(enclosure.read(path, 100)?.toString()).toBe('agents');
    const missing = repo.path('new/folder/a.md');
    expect(enclosure.resolve(missing)).toBe(missing);
    expect(enclosure.read(missing, 100)).toBeUndefined();
  });

  test('may be reached through a link above the project', () => {
    const repo = create();
    const alias = join(outside(), 'alias');
    symlinkSync(repo.root, alias);
    const enclosure = Enclosure.ofProject(alias);
    expect(enclosure.resolve(join(alias, 'README.md'))).toBe(repo.path('README.md'));
    expect(() => enclosure.resolve(join(alias, '../a.md'))).toThrow('outside of');
  });
});

describe('a path of a project', () => {
  test('is read only from a regular file within the size limit', () => {
    const repo = create();
    repo.write('large', 'x'.repeat(11));
    const enclosure = Enclosure.ofProject(repo.root);
    for (const [path, code] of [
      ['.', 'damaged'],
      ['large', 'too_large'],
    ] as const) {
      expect(() => enclosure.read(repo.path(path), 10)).toThrow(expect.objectContaining({ code }));
    }
    expect(enclosure.head(repo.path('large'), 2)).toEqual({ bytes: Buffer.from('xx'), size: 11 });
  });

  piped('is not read from a pipe', () => {
    const repo = create();
    const pipe = repo.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const enclosure = Enclosure.ofProject(repo.root);
    const damaged = expect.objectContaining({ code: 'damaged' });
    expect(() => enclosure.read(pipe, 10)).toThrow(damaged);
    expect(enclosure.head(pipe, 10)).toBeUndefined();
  });
});

describe('a path that a person names', () => {
  skipWithoutLinks();

  test('outside the project may be a link, but no link below it may lead out', () => {
    const repo = create();
    const [out, other] = [outside(), outside()];
    for (const [name, target] of [
      ['folder', out],
      ['file.md', join(out, 'a.md')],
    ] as const) {
      const given = join(other, name);
      symlinkSync(target, given);
      expect(Enclosure.around(given, repo.root).resolve(given)).toBe(target);
    }
    symlinkSync(other, join(out, 'b'));
    const enclosure = Enclosure.around(join(other, 'folder'), repo.root);
    expect(() => enclosure.resolve(join(other, 'folder/b/a.md'))).toThrow('is a symbolic link');
  });

  test('belongs to the project in any spelling', () => {
    const repo = create();
    const out = outside();
    symlinkSync(repo.root, join(out, 'alias'));
    symlinkSync(out, repo.path('docs'));
    const given = join(out, 'alias/docs');
    const enclosure = Enclosure.around(given, repo.root);
    expect(() => enclosure.resolve(given)).toThrow(`${repo.path('docs')} is a symbolic link`);
  });
});
