import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Files, Stat } from '../../src/git/files.ts';
import { Pack } from '../../src/git/pack.ts';
import { credentials, nearMisses } from '../support/credentials.ts';
import { Repo } from '../support/repo.ts';

const texts = (...all: string[]) => all.map((text) => Buffer.from(text));

const record = `id: 8f14e45f
title: "Yes: a title"
tags:
  - one
  - "2024-01-01"
nested:
  key: value # a comment
  list:
    - a: 1
      b: [x, y]
text: |
  First line

  Second line
folded: >-
  some
  words
`;

export function yaml(): Buffer[] {
  return texts(
    record,
    'a: 1\n',
    'a: &x {b: 1}\nc: *x\n',
    '{}\n',
    '# only a comment\n',
    "a: 'it''s'\n",
    '? |\n  key\n: value\n',
    'a:\n- b\n-\n  - c\n',
  );
}

export function frontMatter(): Buffer[] {
  return texts(
    '---\ntitle: A\ntags:\n  - one\n---\nThe body.\n',
    '---\r\ntitle: A\r\n---\r\nThe body.\r\n',
    '---\ntitle: "A: b" # kept\nother: 1\n---\n---\nnot: front matter\n',
    '---\ntitle: A\nbody: "\\ud800"\n---\n',
  );
}

export function markdown(): Buffer[] {
  return texts(
    '# Title\n\nText\n\n## Log\n\n- [2024-01-01] one\n- two\n\n## Next\n\n1. first\n2. second\n',
    '---\na: b\n---\n# A\n\n```js\n# no heading\n```\n\nSetext\n===\n\n> # quoted\n\n<div>\n# html\n</div>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
    '* a\n  * b\n\n    code\n\n  # inside\n* c\n\n***\n\n[x]: /y\n',
  );
}

const rule = {
  mode: 'code',
  instructions: {
    general: ['one'],
    umb: {
      trigger: '^(umb|update memory bank)$',
      instructions: ['two'],
      override_file_restrictions: true,
    },
    memory_bank: { files_to_read: ['**/*.md'], files_to_update: ['{a,b}/*.md', 'progress.md'] },
  },
  mode_triggers: { architect: [{ condition: 'design' }] },
};

export function rules(): Buffer[] {
  return texts(
    JSON.stringify(rule),
    'mode: code\ninstructions:\n  general:\n    - one\n  umb:\n    trigger: "^umb$"\nmode_triggers:\n  ask:\n    - condition: question\n',
    'mode = "code"\n[instructions]\ngeneral = ["one", """two"""]\n[instructions.memory_bank]\nfiles_to_read = ["*.md"]\n[[mode_triggers.ask]]\ncondition = "question"\n',
  );
}

export function patterns(): Buffer[] {
  return texts(
    '^(umb|update memory bank)$',
    'a*b+c?',
    '[a-z]+ \\w\\d',
    '**/*.md',
    '{a,b{c,d}}/*',
    '(x|(y|z)*)+',
  );
}

export function configs(): Buffer[] {
  return texts(
    '[core]\n\trepositoryformatversion = 0\n\tbare = false # no\n[user]\n\tname = "Ada \\"L\\"" ; x\n[include]\n\tpath = ../x\n[includeIf "gitdir:~/code/"]\n\tpath = y\n[a "b\\\\c"] d = long \\\n  line\n',
  );
}

export function names(): Buffer[] {
  return texts(
    'notes/today.md',
    'JIRA-1',
    '../../etc/passwd',
    '.git/config',
    'con.md',
    'e\u0301.md',
    'a\u202eb.md',
    '日本語.md',
    'x'.repeat(300),
  );
}

export function credentialTexts(): Buffer[] {
  return texts(...[...credentials(), ...nearMisses()].map(({ text }) => text));
}

/** A repository of native git, with files, folders and history. */
function sample(): Repo {
  const repo = Repo.create();
  for (let i = 0; i < 12; i++) {
    repo.write(`.memory-bank/notes/note-${i}.yaml`, `key: ${i}\n${record.repeat(i)}`);
    repo.write(`src/deep/er/file-${i}.txt`, 'text\n');
  }
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'More\n\nWith a body');
  repo.write('.memory-bank/notes/note-3.yaml', `${record.repeat(4)}changed: true\n`);
  repo.git('commit', '-qam', 'Change');
  return repo;
}

export function indexes(): Buffer[] {
  const repo = sample();
  const read = () => readFileSync(repo.path('.git/index'));
  const found = [read()];
  for (const version of ['3', '4']) {
    repo.git('update-index', '--index-version', version);
    found.push(read());
  }
  repo.git('update-index', '--untracked-cache');
  repo.git('status');
  found.push(read());
  repo.remove();
  return found;
}

export function trees(): Buffer[] {
  const repo = sample();
  const found = ['HEAD:', 'HEAD:.memory-bank', 'HEAD:src'].map((name) =>
    execFileSync('git', ['cat-file', 'tree', name], { cwd: repo.root }),
  );
  repo.remove();
  return found;
}

export function commits(): Buffer[] {
  const repo = sample();
  const found = texts(
    repo.git('cat-file', 'commit', 'HEAD'),
    repo.git('cat-file', 'commit', 'HEAD~2'),
  );
  repo.remove();
  return found;
}

export function deltas(): Buffer[] {
  const base = Buffer.from('the quick brown fox jumps over the lazy dog');
  const copy = Buffer.from([base.length, base.length, 0x90, base.length]);
  const insert = Buffer.from([base.length, 8, 0x91, 4, 5, 3, 0x61, 0x62, 0x63]);
  return [copy, insert].map((one) => Buffer.concat([Buffer.from([base.length]), base, one]));
}

/** The index of a pack and the pack behind it, the length of the first in front. */
export function packs(): Buffer[] {
  const repo = sample();
  repo.git('gc', '-q');
  const folder = repo.path('.git/objects/pack');
  const read = (ending: string) => {
    const name = readdirSync(folder).find((file) => file.endsWith(ending)) ?? '';
    return readFileSync(join(folder, name));
  };
  const [listed, packed] = [read('.idx'), read('.pack')];
  repo.remove();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(listed.length);
  return [Buffer.concat([length, listed, packed])];
}

/** Reads every object of a pack that lies in memory. */
export function readPack(input: Buffer): string {
  const split = 4 + (input.length < 4 ? 0 : input.readUInt32BE(0));
  const contents = [input.subarray(4, split), input.subarray(split)];
  const files = {
    open: (path: string) => (path.endsWith('.idx') ? 0 : 1),
    close: () => undefined,
    fstat: (fd: number): Stat => ({ ...noStat, size: contents[fd]?.length ?? 0 }),
    pread: (fd: number, length: number, position: number) =>
      contents[fd]?.subarray(Math.max(0, position), Math.max(0, position) + length),
  } as Partial<Files> as Files;
  const pack = Pack.open(files, '', 'pack');
  let read = 0;
  for (const oid of pack.startingWith('', 50)) {
    const offset = pack.offsetOf(oid);
    if (offset === undefined) continue;
    pack.read(offset, () => ({ type: 'blob', content: Buffer.from('elsewhere') }));
    read += 1;
  }
  return `read ${read}`;
}

const noStat: Stat = { kind: 'file', size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, mode: 0, links: 1 };

/** The state of some file, as an index keeps it. */
export function stat() {
  const found = lstatSync('package.json', { bigint: true });
  return found;
}
