import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Disk } from '../../src/git/disk/disk.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { editConfig, replaceSection } from '../../src/git/repository/config-edit.ts';
import { parseConfig } from '../../src/git/repository/config-text.ts';
import { linked } from '../support/windows.ts';

const section = { name: 'merge', subsection: 'memory-bank', settings: { driver: 'a "b" \\c' } };
const none = { ...section, settings: {} };
const written = '[merge "memory-bank"]\n\tdriver = "a \\"b\\" \\\\c"\n';

describe('replaceSection', () => {
  it('adds a section at the end, on a line of its own', () => {
    expect(replaceSection('', section)).toBe(written);
    expect(replaceSection('[core]\n\tbare = false', section)).toBe(
      `[core]\n\tbare = false\n${written}`,
    );
    expect(parseConfig(written)).toEqual([{ key: 'merge.memory-bank.driver', value: 'a "b" \\c' }]);
  });

  it.each([
    ['[merge "memory-bank"]\n\tname = x\n\t# about the driver\n\tdriver = y\\\n[no section]\n'],
    ['[MERGE   "memory-bank"] driver = x\n'],
    ['[merge.memory-bank]\ndriver = x\n'],
  ])('replaces %j in its place', (old) => {
    const [above, below] = ['[core]\n\tbare = false\n', '# about a\n[a]\n\tb = c ; d\r\n'];
    expect(replaceSection(above + old + below, section)).toContain(written.split('\n')[1]);
    const replaced = replaceSection(above + old + below, section).replaceAll('\r\n', '\n');
    expect(replaced).toBe((above + written + below).replaceAll('\r\n', '\n'));
    expect(replaceSection(above + old + below, none)).toBe(above + below);
  });

  it('takes two sections for one, and leaves others of the name alone', () => {
    const other = '[merge "other"]\n\tdriver = o\n[merge]\n\tff = only\n';
    expect(replaceSection(written + other + written, section)).toBe(written + other);
    expect(replaceSection(other, none)).toBe(other);
  });
});

describe('editConfig', () => {
  const disk = new Disk(new NodeFiles(), 'full');
  const newFile = (text: string | Buffer) => {
    const path = join(mkdtempSync(join(tmpdir(), 'memory-bank-')), 'config');
    writeFileSync(path, text);
    return path;
  };

  linked(
    'keeps bytes, permissions and links, and tells whether there was anything to do',
    async () => {
      const bytes = Buffer.from('[user]\n\tname = J\u00fcrgen\n', 'latin1');
      const path = newFile(bytes);
      chmodSync(path, 0o600);
      symlinkSync(path, `${path}-link`);
      expect(await editConfig(disk, `${path}-link`, section)).toBe(true);
      expect(readFileSync(path)).toEqual(Buffer.concat([bytes, Buffer.from(written)]));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(await editConfig(disk, path, section)).toBe(false);
      expect(await editConfig(disk, path, none)).toBe(true);
      expect(readFileSync(path)).toEqual(bytes);
      expect(() => statSync(`${path}.lock`)).toThrow('ENOENT');
    },
  );
});
