import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../../src/core/values/error.ts';
import { toJournal } from '../../src/git/commit/journal.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import { IndexFile, lineStat } from '../../src/git/index/index-file.ts';
import { parseToken } from '../../src/git/locks/token.ts';
import { parseCommit } from '../../src/git/objects/object.ts';
import { sha1 } from '../../src/git/objects/object-format.ts';
import { applyDelta } from '../../src/git/objects/pack.ts';
import { findEntry, listTree, spliceTree } from '../../src/git/objects/tree.ts';
import { trimReflogs } from '../../src/git/refs/reflog.ts';
import { Refs } from '../../src/git/refs/refs.ts';
import { parseConfig } from '../../src/git/repository/config-text.ts';
import * as seeds from './seeds.ts';
import { attempt, check, size, type Target } from './target.ts';

const index: Target = {
  seeds: seeds.indexes,
  words: [
    'DIRC',
    'TREE',
    'REUC',
    'UNTR',
    'link',
    'sdir',
    'FSMN',
    'EOIE',
    'IEOT',
    '\0\0\0\x02',
    '\0\0\0\x04',
    '\0',
    '\xff\xff\xff\xff',
    '-1 0\n',
    '-1 1\n',
    '999999999 999999999\n',
  ],
  run(input) {
    const file = IndexFile.read(input, sha1);
    const stat = seeds.stat();
    const oid = '0123456789abcdef0123456789abcdef01234567';
    for (const path of ['a', '.memory-bank/config.yaml', 'z/z']) {
      file.find(path);
      file.collapses(`${path}/below`);
    }
    const path = '.memory-bank/notes/new.yaml';
    const trees = ['', '.memory-bank', '.memory-bank/notes'].map((folder) => {
      return { folder, before: oid, after: oid };
    });
    const spliced = file.splice(
      [{ path, oid, mode: 0o100644, stat: lineStat(stat) }],
      ['a'],
      trees,
    );
    // An index that is not sorted cannot be searched; it is read by git alike.
    IndexFile.read(Buffer.concat(spliced.pieces()), sha1).find(path);
    return `read ${size(file.unmergedBelow('').length)} ${file.unmerged}`;
  },
};

const delta: Target = {
  seeds: seeds.deltas,
  words: ['\x80', '\xff', '\xff\xff\xff\xff', '\x90\x00', '\0', '\x01a'],
  run(input) {
    const length = input.length === 0 ? 0 : (input[0] ?? 0);
    const result = applyDelta(input.subarray(1, 1 + length), input.subarray(1 + length));
    return `made ${size(result.length)}`;
  },
};

const pack: Target = {
  seeds: seeds.packs,
  words: ['PACK', '\xfftOc', '\0\0\0\x02', '\xff\xff\xff\xff', '\x80\0\0\0', '\0\0\0\0'],
  run: seeds.readPack,
};

const config: Target = {
  seeds: seeds.configs,
  words: [
    '[',
    ']',
    '[core]\n',
    '[a "b"]',
    '"',
    '\\',
    '\\\n',
    '=',
    '#',
    ';',
    '\n',
    '\t',
    ' ',
    '\r\n',
    'bare',
  ],
  run(input) {
    const settings = parseConfig(input.toString('utf8'));
    for (const { key } of settings) check(key.includes('.'), 'a key without a section');
    return `${size(settings.length)} settings`;
  },
};

const tree: Target = {
  seeds: seeds.trees,
  words: ['100644 a\0', '40000 a\0', '120000 l\0', '160000 s\0', '\0', ' '],
  run(input) {
    const names = listTree(input, sha1).length;
    const entry = { mode: '100644', oid: '0123456789abcdef0123456789abcdef01234567' };
    const changed = spliceTree(input, [['memory', entry]], sha1);
    check(isDeepStrictEqual(findEntry(changed, 'memory', sha1), entry), 'the entry was not set');
    check(
      findEntry(spliceTree(changed, [['memory', undefined]], sha1), 'memory', sha1) === undefined ||
        listTree(input, sha1).filter(({ name }) => name === 'memory').length > 1,
      'not removed',
    );
    return `${size(names)} entries`;
  },
};

const commit: Target = {
  seeds: seeds.commits,
  words: [
    'tree ',
    'parent ',
    'author ',
    'committer ',
    'gpgsig ',
    '\n\n',
    '\n',
    '<',
    '>',
    ' +0000',
    '-9999',
    '0',
  ],
  run(input) {
    const { parents, message } = parseCommit(input);
    return `${size(parents.length)} ${size(message.length)}`;
  },
};

const journal: Target = {
  seeds: seeds.journals,
  words: [
    '"path":"../x"',
    '"path":".GIT/x"',
    '"gitDir":"worktrees/.."',
    '"logs/../x"',
    '"size":-1',
    'null',
    '[]',
    '{}',
    '"',
    '\\u0000',
    '..',
    '/',
    '\\\\',
    'worktrees/a',
    '0'.repeat(40),
    '1e999',
  ],
  run(input) {
    const text = input.toString('utf8');
    parseToken(text);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'no JSON';
    }
    let read: ReturnType<typeof toJournal>;
    try {
      read = toJournal(value);
    } catch (error) {
      if (error instanceof TypeError) return error.message.replace(/".*/s, '');
      throw error;
    }
    const paths = [...read.files.map(({ path }) => path), ...read.folders];
    for (const path of [...paths, ...read.logs.map((log) => log.path)]) {
      check(!/^[/\\]|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/.test(path), `a way out: ${path}`);
      check(!/(?:^|[/\\])\.git(?:[/\\]|$)/i.test(path), `into git: ${path}`);
    }
    for (const { path } of read.logs) check(/(?:^|[/\\])logs[/\\]/.test(path), 'no log');
    check(!read.gitDir.includes('..') || read.gitDir.length > 12, 'another git directory');
    check(isDeepStrictEqual(toJournal(JSON.parse(JSON.stringify(read))), read), 'not read back');
    return `read ${size(read.files.length)} ${size(read.logs.length)}`;
  },
};

const reflog: Target = {
  seeds: seeds.reflogs,
  words: ['\n', '\t', '0'.repeat(40), ' ', 'commit: ', '<', '>', '\0', '\xff'],
  run(input) {
    const split = input.indexOf(0);
    const [before, added] = [input.subarray(0, Math.max(split, 0)), input.subarray(split + 1)];
    const ours = seeds.reflogLine;
    const files = new seeds.OneFile(Buffer.concat([before, added]));
    const disk = new Disk(files, 'relaxed');
    trimReflogs(disk, '/git', [{ path: 'logs/HEAD', size: before.length }], ours);
    const left = files.bytes ?? Buffer.alloc(0);
    check(left.subarray(0, before.length).equals(before), 'what stood there was cut');
    const cut = added.subarray(Math.max(left.length - before.length, 0));
    check(Buffer.from(ours).subarray(0, cut.length).equals(cut), "somebody else's line was cut");
    return `cut ${size(cut.length)}`;
  },
};

const refs: Target = {
  seeds: seeds.refFiles,
  words: [
    'ref: ',
    'refs/heads/',
    '..',
    '/',
    '\n',
    '\0',
    ' ',
    '^',
    '# pack-refs with: peeled fully-peeled sorted\n',
    '0123456789abcdef0123456789abcdef01234567',
  ],
  run(input) {
    const [head = '', loose = '', packed = ''] = input.toString('utf8').split('\0');
    const files = new seeds.OneFile(Buffer.from(loose), {
      HEAD: Buffer.from(head),
      'packed-refs': Buffer.from(packed),
    });
    const all = new Refs(files, '/git', '/git');
    const found = attempt(() => all.head());
    if (found instanceof MemoryError) return found.message.slice(0, 8);
    check(found.oid === undefined || /^[0-9a-f]{40}$/.test(found.oid), 'no id');
    const listed = attempt(() => all.list('refs/heads/'));
    const kind = found.ref === undefined ? 'detached' : 'on a branch';
    return `${kind} ${found.oid !== undefined} ${listed instanceof MemoryError || size(listed.length)}`;
  },
};

/** Every parser of what lies in a git directory. */
export const gitTargets: { readonly [name: string]: Target } = {
  index,
  delta,
  pack,
  config,
  tree,
  commit,
  journal,
  reflog,
  refs,
};
