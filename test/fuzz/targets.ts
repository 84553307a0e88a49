import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  insertInSection,
  outline,
  prependToList,
  replaceList,
} from '../../src/core/markdown/sections.ts';
import { fileNameProblem } from '../../src/core/names/file-name.ts';
import { encodeName } from '../../src/core/names/name.ts';
import { markdownCodec } from '../../src/core/record/codec.ts';
import { MemoryError } from '../../src/core/values/error.ts';
import { writeYaml } from '../../src/core/yaml/writer.ts';
import { readYaml, rewriteYaml } from '../../src/core/yaml/yaml.ts';
import { accessOf } from '../../src/store/modes/access.ts';
import { commandPattern } from '../../src/store/modes/command-pattern.ts';
import { parseRuleFile } from '../../src/store/modes/rule-file.ts';
import { findSecrets } from '../../src/store/secrets/scan.ts';
import { gitTargets } from './git-targets.ts';
import { otherTargets } from './other-targets.ts';
import * as seeds from './seeds.ts';
import { attempt, check, size, type Target } from './target.ts';

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
  names,
  secrets,
  ...gitTargets,
  ...otherTargets,
};
