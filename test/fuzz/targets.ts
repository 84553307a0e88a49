import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { markdownCodec } from '../../src/core/codec.ts';
import { MemoryError } from '../../src/core/error.ts';
import { fileNameProblem } from '../../src/core/file-name.ts';
import { insertInSection, outline, prependToList, replaceList } from '../../src/core/markdown.ts';
import { encodeName } from '../../src/core/name.ts';
import { readYaml, rewriteYaml } from '../../src/core/yaml.ts';
import { writeYaml } from '../../src/core/yaml-writer.ts';
import { parseConfig } from '../../src/git/config.ts';
import { IndexFile } from '../../src/git/index-file.ts';
import { parseCommit } from '../../src/git/object.ts';
import { applyDelta } from '../../src/git/pack.ts';
import { findEntry, listTree, spliceTree } from '../../src/git/tree.ts';
import { accessOf } from '../../src/store/access.ts';
import { commandPattern } from '../../src/store/command-pattern.ts';
import { parseRuleFile } from '../../src/store/rule-file.ts';
import { findSecrets } from '../../src/store/secrets/scan.ts';
import * as seeds from './seeds.ts';

/** One parser, and what has to be true of it for every input. */
export interface Target {
  /** Inputs to start from. */
  seeds(): Buffer[];
  /** What means something to the parser. */
  readonly words: readonly string[];
  /**
   * Runs it; whatever it throws but a MemoryError is a finding.
   *
   * @returns what became of the input, coarsely, to tell where mutations lead somewhere new.
   */
  run(input: Buffer): string;
}

/** Fails the run: something that has to hold does not. */
function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** What a call throws when it throws what it may. */
function attempt<T>(work: () => T): T | MemoryError {
  try {
    return work();
  } catch (error) {
    if (error instanceof MemoryError) return error;
    throw error;
  }
}

const size = (n: number) => Math.ceil(Math.log2(n + 1));

const yaml: Target = {
  seeds: seeds.yaml,
  words: [
    ': ',
    '- ',
    '? ',
    '\n',
    '  ',
    '"',
    "'",
    '|\n',
    '>-\n',
    '&a ',
    '*a',
    '<<: *a',
    '!!str ',
    '{',
    '}',
    '[',
    ']',
    '#',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '\t',
    '\\',
    '\u2028',
    '~',
    '<<<<<<< a\n',
    '=======\n',
    '>>>>>>> b\n',
    '__proto__: ',
  ],
  run(input) {
    const text = input.toString('utf8');
    const value = readYaml(text);
    check(
      isDeepStrictEqual(readYaml(writeYaml(value)), value),
      'what was read is written otherwise',
    );
    check(rewriteYaml(text, value).length > 0, 'nothing is left');
    const changed = { ...value, added: 'text', ...(value.a !== undefined && { a: 1 }) };
    check(isDeepStrictEqual(readYaml(rewriteYaml(text, changed)), changed), 'an edit was lost');
    return `read ${size(Object.keys(value).length)}`;
  },
};

const letter = z.object({
  title: z.string(),
  tags: z.array(z.string()).optional(),
  body: z.string(),
});
const letters = markdownCodec<z.output<typeof letter>>(letter, 'body');

const frontMatter: Target = {
  seeds: seeds.frontMatter,
  words: [
    '---\n',
    '---\r\n',
    'title: ',
    'tags:\n  - ',
    'body: ',
    '\n',
    '\r\n',
    '\ufeff',
    '...',
    '"',
    '{',
    '}',
  ],
  run(input) {
    const text = input.toString('utf8');
    const value = letters.decode(text, 'a.md');
    check(letters.encode(value, text) === text, 'a file that says the same was changed');
    check(isDeepStrictEqual(letters.decode(letters.encode(value), 'a.md'), value), 'not read back');
    const next = { ...value, title: `${value.title}!` };
    check(
      isDeepStrictEqual(letters.decode(letters.encode(next, text), 'a.md'), next),
      'an edit was lost',
    );
    return `read ${size(value.body.length)}`;
  },
};

const markdown: Target = {
  seeds: seeds.markdown,
  words: [
    '# ',
    '## A\n',
    '## Log\n',
    '- ',
    '* ',
    '1. ',
    '> ',
    '```\n',
    '~~~',
    '---\n',
    '===\n',
    '<!--',
    '-->',
    '<div>',
    '<pre>',
    '</',
    '|',
    '[x]: ',
    '\t',
    '    ',
    '\r',
    '\n\n',
    '\\',
    '&#35;',
    '\u2028',
  ],
  run(input) {
    const text = input.toString('utf8');
    const sections = outline(text);
    let at = 0;
    for (const { start, bodyStart, bodyEnd, end } of sections) {
      check(at <= start && start <= bodyStart && bodyStart <= bodyEnd && bodyEnd <= end, 'order');
      check(end <= text.length, 'a section goes beyond the text');
      at = start;
    }
    const heading = sections[0]?.heading ?? 'Log';
    const inserted = insertInSection(text, heading, 'An added line.');
    check(inserted.includes('An added line.'), 'the text was not inserted');
    check(prependToList(text, heading, 'An added item').includes('An added item'), 'no item');
    replaceList(text, heading, ['one', 'two']);
    replaceList(text, heading, []);
    return `${size(sections.length)} sections`;
  },
};

const rules: Target = {
  seeds: seeds.rules,
  words: [
    'mode',
    'code',
    'instructions',
    'general',
    'umb',
    'memory_bank',
    'files_to_read',
    'files_to_update',
    'mode_triggers',
    'trigger',
    '*',
    '**/',
    '{a,b}',
    '{1..9}',
    '[!a]',
    '!',
    '+(',
    '\\',
    '"',
    "'",
    '=',
    '[[',
    ']]',
    ':',
    '\n',
    '{',
    '}',
    '[',
    ']',
    ',',
    '#',
    '"""',
    '__proto__',
    '1979-05-27T07:32:00Z',
    '0x',
    'inf',
    '&a ',
    '*a',
  ],
  run(input) {
    const text = input.toString('utf8');
    const outcomes = ['code.json', 'code.yaml', 'code.toml', 'code'].map((name) => {
      const mode = attempt(() => parseRuleFile(text, name, name));
      if (mode instanceof MemoryError) return mode.message.replace(/["\d].*/s, '');
      check(mode.name === 'code', 'another name');
      const access = accessOf(mode, false);
      access.mayRead('a/b/activeContext.md');
      access.mayWrite('progress.md');
      commandPattern(mode.umb?.trigger ?? '')?.('Update Memory Bank');
      return 'read';
    });
    return outcomes.join('; ');
  },
};

const patterns: Target = {
  seeds: seeds.patterns,
  words: [
    '(',
    ')',
    '(?:',
    '|',
    '*',
    '+',
    '?',
    '.*',
    '[^',
    ']',
    '\\',
    '\\w',
    '{2,}',
    '^',
    '$',
    'a',
    '(a+)+',
    '(a*)*',
  ],
  run(input) {
    const text = input.toString('utf8');
    const pattern = commandPattern(text.slice(0, 300));
    const message = text.slice(0, 256);
    const glob = attempt(() =>
      accessOf(
        {
          name: 'm',
          source: '',
          instructions: [],
          umb: undefined,
          filesToRead: [text.slice(0, 300)],
          filesToUpdate: undefined,
          triggers: {},
        },
        false,
      ).mayRead(`${message.replaceAll('\n', '')}/a/b.md`),
    );
    return `${pattern === undefined ? 'none' : pattern(message) && pattern('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')} ${glob instanceof MemoryError}`;
  },
};

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
    const file = new IndexFile(input);
    const stat = seeds.stat();
    const oid = '0123456789abcdef0123456789abcdef01234567';
    for (const path of ['a', '.memory-bank/config.yaml', 'z/z']) {
      file.find(path);
      file.collapses(`${path}/below`);
    }
    const listed = [...file.below('.memory-bank')].length;
    const path = '.memory-bank/notes/new.yaml';
    const trees = ['', '.memory-bank', '.memory-bank/notes'].map((folder) => {
      return { folder, before: oid, after: oid };
    });
    const spliced = file.splice([{ path, oid, mode: 0o100644, stat }], ['a'], trees);
    const again = new IndexFile(spliced);
    // An index that is not sorted cannot be searched; it is read by git alike.
    if (listed > 0) again.find(path);
    return `read ${size(listed)} ${file.unmerged}`;
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
    const names = listTree(input).length;
    const entry = { mode: '100644', oid: '0123456789abcdef0123456789abcdef01234567' };
    const changed = spliceTree(input, [['memory', entry]]);
    check(isDeepStrictEqual(findEntry(changed, 'memory'), entry), 'the entry was not set');
    check(
      findEntry(spliceTree(changed, [['memory', undefined]]), 'memory') === undefined ||
        listTree(input).filter(({ name }) => name === 'memory').length > 1,
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

const names: Target = {
  seeds: seeds.names,
  words: [
    '/',
    '..',
    '.git',
    'GIT~1',
    '\\',
    'con',
    '.md',
    '\u202e',
    '\u200d',
    '\u0301',
    '\ud83d\ude00',
    '%2e',
    '~',
    ' ',
    '.',
    '\0',
    'aux.',
    ':$DATA',
    '\uff0e',
    '\u2215',
    '\u0130',
  ],
  run(input) {
    const text = input.toString('utf8');
    const name = encodeName(text);
    check(!/[/\\\0]/.test(name) && name !== '.' && name !== '..', 'a way out');
    check(Buffer.byteLength(name) <= 200 && name === name.normalize('NFC'), 'a name for no disk');
    check(!/^(?:\.git|git~\d+)$/i.test(name), 'git’s own');
    const problem = fileNameProblem(text);
    if (problem === undefined) {
      const parts = text.split('/');
      check(
        parts.every((part) => part !== '' && part !== '..' && part !== '.'),
        'a way out',
      );
      check(!parts.some((part) => /^\.git$/i.test(part.normalize('NFKC'))), 'into .git');
    }
    return problem?.slice(0, 30) ?? `a name of ${size(name.length)}`;
  },
};

const secrets: Target = {
  seeds: seeds.credentialTexts,
  words: [
    'password=',
    'token: ',
    '://',
    ':',
    '@',
    'eyJ',
    '.',
    '-----BEGIN PRIVATE KEY-----',
    'AKIA',
    'ghp_',
    'sk-',
    'xoxb-',
    ' is ',
    '"',
    '\\n',
    'a1B2c3D4e5F6g7H8',
  ],
  run(input) {
    const text = input.toString('utf8');
    const found = findSecrets(text);
    for (const { index, text: secret } of found) {
      check(text.slice(index, index + secret.length) === secret, 'not where it is said to be');
    }
    return found
      .map(({ kind }) => kind)
      .slice(0, 3)
      .join(',');
  },
};

/** Every parser that reads what others have written. */
export const targets: { readonly [name: string]: Target } = {
  yaml,
  'front-matter': frontMatter,
  markdown,
  rules,
  patterns,
  index,
  delta,
  pack,
  config,
  tree,
  commit,
  names,
  secrets,
};
