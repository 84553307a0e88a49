import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { Files, Stat } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { sha1 } from '../../src/git/objects/object-format.ts';
import { Pack } from '../../src/git/objects/pack.ts';
import { JsonLines } from '../../src/server/mcp/stdio.ts';
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
  const pack = Pack.open(files, '', 'pack', sha1);
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

const oid = (digit: string) => digit.repeat(40);

export function journals(): Buffer[] {
  const token = '1a-0123456789abcdef';
  const whole = {
    token,
    top: '..',
    gitDir: '',
    ref: 'refs/heads/main',
    parent: oid('a'),
    commit: oid('b'),
    files: [
      {
        path: '.memory-bank/a.md',
        before: oid('c'),
        after: oid('d'),
        indexed: oid('c'),
        mode: 33188,
      },
      { path: '.memory-bank/new/b.md', after: oid('e'), mode: 33261 },
    ],
    logs: [{ path: 'logs/HEAD', size: 100 }, { path: 'logs/refs/heads/main' }],
    logLines: reflogLine,
    folders: ['.memory-bank/new'],
  };
  const linked = {
    ...whole,
    gitDir: 'worktrees/side',
    logs: [{ path: 'worktrees/side/logs/HEAD', size: 0 }],
    parent: undefined,
  };
  const holder = { id: token, pid: 46, start: '100', boot: 'b', namespace: 'pid:[1]' };
  return texts(...[whole, linked, holder].map((one) => JSON.stringify(one)));
}

/** What a mutation appends to a reflog. */
export const reflogLine = `${oid('a')} ${oid('b')} Ada <ada@example.org> 1767323045 +0000\tcommit: memory: put a\n`;

/** What a reflog held, a NUL, and what has been added to it since. */
export function reflogs(): Buffer[] {
  const earlier = reflogLine.replaceAll('a', '0');
  return texts(
    `${earlier}\0${reflogLine}`,
    `${earlier}\0${reflogLine.slice(0, 50)}`,
    `\0${reflogLine}${earlier}`,
    `${earlier}\0${earlier}`,
  );
}

/** HEAD, the branch that it names and `packed-refs`, divided by NULs. */
export function refFiles(): Buffer[] {
  const packed = `# pack-refs with: peeled fully-peeled sorted \n${oid('c')} refs/heads/side\n${oid('d')} refs/tags/v1\n^${oid('e')}\n`;
  return texts(
    `ref: refs/heads/main\n\0${oid('a')}\n\0${packed}`,
    `ref: refs/heads/side\n\0\0${packed}`,
    `${oid('b')}\n\0\0`,
    `ref: refs/heads/main\n\0ref: refs/heads/side\n\0${packed}`,
  );
}

/** A disk in memory on which every path is one file, but those that are named. */
export class OneFile extends NodeFiles {
  bytes: Buffer | undefined;
  readonly #named: { readonly [name: string]: Buffer };

  constructor(bytes: Buffer, named: { readonly [name: string]: Buffer } = {}) {
    super();
    this.bytes = bytes;
    this.#named = named;
  }

  override read(path: string): Buffer | undefined {
    return this.#named[basename(path)] ?? this.bytes;
  }

  override lstat(path: string): Stat {
    return { ...noStat, size: this.read(path)?.length ?? 0 };
  }

  override list(path: string) {
    const kind = 'file' as const;
    return path.endsWith('heads') ? ['main', 'side', 'a.lock'].map((name) => ({ name, kind })) : [];
  }

  override truncate(_path: string, length: number): void {
    this.bytes = this.bytes?.subarray(0, length);
  }

  override unlink(): void {
    this.bytes = undefined;
  }
}

/** A base and what two sides made of it, divided by NULs. */
export function threeSides(): Buffer[] {
  const log = '# Progress\n\n## Log\n\n- [2026-01-01] one\n';
  const ticket = 'id: 8f14e45f\nkey: a\ntitle: one\ndescription: null\n';
  const entry = '---\ncategory: patterns\nkey: a\ntags:\n  - x\n---\nThe text.\n';
  return texts(
    `${log}\0${log}- two\n\0${log.replace('one', 'changed')}- three\n`,
    `${ticket}\0${ticket.replace('one', 'two')}\0${ticket.replace('null', 'more')}`,
    `${entry}\0${entry}And more.\n\0${entry.replace('- x', '- x\n  - y')}`,
    `\0${log}\0${entry}`,
  );
}

export function databases(): Buffer[] {
  const folder = 'test/fixtures/graph';
  return readdirSync(folder).map((name) => readFileSync(join(folder, name)));
}

export function messages(): Buffer[] {
  return texts(
    '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","method":"notify"}\n',
    '[{"jsonrpc":"2.0","id":"a","method":"ping"},1]\r\n\n"text"\n',
    '{"id":1\n{"jsonrpc":"2.0","id":2,"params":{"_meta":{"progressToken":3}}}',
  );
}

/** How many values the reader of stdin makes of it, and what it answers by itself. */
export function readLines(input: Buffer): {
  values: number;
  answers: { error: { code: unknown } }[];
} {
  const answers: { error: { code: unknown } }[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      answers.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const stdin = new Readable({ read() {} });
  const lines = new JsonLines(stdin, output);
  let values = 0;
  lines.onvalue = () => {
    values += 1;
  };
  lines.start();
  const middle = input.length >> 1;
  for (const part of [input.subarray(0, middle), input.subarray(middle)]) stdin.emit('data', part);
  stdin.emit('end');
  return { values, answers };
}
