import { mergeFile } from '../../src/store/merge/merge-file.ts';
import { SqliteFile } from '../../src/toolsets/graph/sqlite.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import * as seeds from './seeds.ts';
import { check, size, type Target } from './target.ts';

const records = toolsets.flatMap((toolset) => toolset.records);

const merge: Target = {
  seeds: seeds.threeSides,
  words: ['\0', '---\n', '\n', '## ', '- ', '<<<<<<< a\n', '=======\n', '>>>>>>> b\n', 'a: 1\n'],
  run(input) {
    const [base = '', ours = '', theirs = ''] = input.toString('latin1').split('\0');
    const sides = {
      base: Buffer.from(base, 'latin1'),
      ours: Buffer.from(ours, 'latin1'),
      theirs: Buffer.from(theirs, 'latin1'),
    };
    const outcomes = ['progress.md', 'graph/tickets/a.yaml', 'knowledge/patterns/a.md', 'x'].map(
      (path) => {
        const { bytes, conflict } = mergeFile(records, path, sides, 7);
        const mirrored = mergeFile(records, path, { ...sides, theirs: sides.ours }, 7);
        check(mirrored.bytes?.equals(sides.ours) === true, 'two equal sides became another');
        check(!conflict || bytes?.includes('<<<<<<< ours') === true, 'an unmarked conflict');
        return `${conflict} ${size(bytes?.length ?? 0)}`;
      },
    );
    return outcomes.join(' ');
  },
};

const sqlite: Target = {
  seeds: seeds.databases,
  words: [
    'SQLite format 3\0',
    '\x0d',
    '\x05',
    '\xff\xff',
    '\x81\x80\0',
    '\0\0\0\x01',
    'CREATE TABLE t (',
  ],
  run(input) {
    const file = new SqliteFile(input);
    const tables = ['features', 'tasks', 't'].filter((name) => file.has(name));
    return tables.map((name) => size(file.rows(name).length)).join(' ');
  },
};

const lines: Target = {
  seeds: seeds.messages,
  words: [
    '\n',
    '\r\n',
    '{',
    '}',
    '[',
    ']',
    '"',
    '"id":',
    '"jsonrpc":"2.0"',
    '\ufeff',
    '\xff',
    '1e999',
    '\\ud800',
  ],
  run(input) {
    const { values, answers } = seeds.readLines(input);
    check(
      answers.every(({ error }) => typeof error.code === 'number'),
      'an answer that is no error',
    );
    const asked = input.toString('latin1').split('\n').length;
    check(values + answers.length <= asked, 'more came out than went in');
    return `${size(values)} ${size(answers.length)}`;
  },
};

/** The parsers of what is merged, imported and sent. */
export const otherTargets: { readonly [name: string]: Target } = { merge, sqlite, lines };
