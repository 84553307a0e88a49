import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const top = resolve(import.meta.dirname, '../..');

/** Folders and files whose prose is checked. */
const clean = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs', 'build.js', 'src'],
  ...[
    'bench',
    'drift',
    'faults',
    'git',
    'guards',
    'hostile',
    'property',
    'store',
    'support',
    'view',
  ].map((name) => `test/${name}`),
];

/** A generated page, and the page that quotes bad style. */
const exempt = ['docs/tools.md', 'docs/contributing.md'];

/** Banned phrases, each with its replacement. */
const banned: readonly (readonly [RegExp, string])[] = [
  [/(?:^|[.:] )(?:Who|Whoever|What|Whatever)(?= (?!is the\b)[a-z][^?]*\.)/g, 'name the subject'],
  [/\b[Ww]hoever\b/g, 'the caller, a process that, a person who'],
  [
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b|later than\b)[a-z]+/g,
    'is not a',
  ],
  [/, too\b(?! (?:large|long|many|much|old|deep))/g, 'also'],
  [/\bbesides?\b/gi, 'next to, with, in addition to'],
  [/\bparted (?:by|from)\b/gi, 'separated by'],
  [/\banew\b/gi, 'again'],
  [/\b(?:lies?|lay|stands?|stood) (?:in|at|on|below|above|under|within|directly in)\b/g, 'is in'],
  [/\b(?:is|are|was|were) told\b/g, 'is reported, gets'],
  [/\b[Tt]ells (?:whether|of|that|how|which|what|the)\b/g, 'says, reports'],
  [/\bin the place of\b/gi, 'instead of, where … should be'],
  [/\bRESOLUTIONS\b|\bX\d\d\b|\(\d\.\d+[a-z]?\)/g, 'the reason itself'],
];

function filesOf(path: string): string[] {
  const full = join(top, path);
  if (/\.\w+$/.test(path)) return [full];
  return readdirSync(full, { encoding: 'utf8', recursive: true })
    .filter((file) => /\.(?:md|tsx?|js)$/.test(file))
    .map((file) => join(full, file));
}

/** Returns the lines of a page, or the comment lines of a source file; other lines are empty. */
function proseOf(file: string): string[] {
  let skipped = false;
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => {
      if (!file.endsWith('.md')) {
        return /^\s*(?:\/?\*\*?|\/\/)\s?(.*)/.exec(line)?.[1] ?? '';
      }
      if (line.trimStart().startsWith('```')) skipped = !skipped;
      if (/^<!-- \w+: generated/.test(line)) skipped = true;
      if (line.startsWith('<!-- end of')) skipped = false;
      return skipped ? '' : line.replace(/`[^`]*`/g, '`…`');
    });
}

function findings(path: string): string[] {
  return filesOf(path)
    .map((file) => [file, relative(top, file).replaceAll('\\', '/')] as const)
    .filter(([, name]) => !exempt.includes(name) && name !== 'test/drift/prose.test.ts')
    .flatMap(([file, name]) =>
      proseOf(file).flatMap((line, i) =>
        banned.flatMap(([pattern, instead]) =>
          [...line.matchAll(pattern)].map(
            ([phrase]) => `${name}:${i + 1}: "${phrase.trim()}"; write: ${instead}`,
          ),
        ),
      ),
    );
}

describe('plain technical English', () => {
  it.each(clean)('is the language of %s', (path) => {
    expect(findings(path)).toEqual([]);
  });

  it('is what the patterns look for', () => {
    const wrong = [
      'Whoever finds it.',
      'bytes that are no text',
      'a link, too.',
      'beside it',
      'parted by commas',
      'begins anew',
      'it lies in the folder',
      'a caller is told so',
      'RESOLUTIONS 3.17',
      'see X24',
    ];
    for (const text of wrong) {
      expect(banned.some(([pattern]) => text.search(pattern) >= 0)).toBe(true);
    }
    const right = ['What is not promised', 'it is no longer there', 'a file that is too large'];
    for (const text of right) {
      expect(banned.filter(([pattern]) => text.search(pattern) >= 0)).toEqual([]);
    }
  });
});
