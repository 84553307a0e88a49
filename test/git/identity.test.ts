import { describe, expect, test } from 'vitest';
import { deep, isFull } from '../support/depth.ts';
import { Repo } from '../support/repo.ts';
import { passing } from './create.ts';
import { open, put } from './repository-at.ts';

/** A repository without an identity, with these settings in its own configuration. */
function nameless(settings: readonly (readonly [string, string])[] = []): Repo {
  const repo = passing(new Repo());
  repo.git('init', '-q', '-b', 'main');
  for (const [key, value] of settings) repo.git('config', key, value);
  return repo;
}

function numbered(settings: readonly (readonly [string, string])[]): NodeJS.ProcessEnv {
  const pairs = settings.flatMap(([key, value], i): [string, string][] => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${settings.length}`, ...Object.fromEntries(pairs) };
}

const format = '--format=%an <%ae> %cn <%ce>';
const user = [
  ['user.name', 'User'],
  ['user.email', 'user@example.org'],
] as const;
const roles = [
  ...user,
  ['author.name', 'Writer'],
  ['author.email', 'writer@example.org'],
  ['committer.name', 'Keeper'],
] as const;
const names = { GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Bob' };
const addresses = { GIT_AUTHOR_EMAIL: 'ada@example.org', GIT_COMMITTER_EMAIL: 'bob@example.org' };

describe('an identity is the one of git', () => {
  const sources: readonly [string, readonly (readonly [string, string])[], NodeJS.ProcessEnv][] = [
    ['the configuration', user, {}],
    ['author.* and committer.*', roles, {}],
    ['empty author.* and committer.*', [...user, ['author.name', ''], ['author.email', '']], {}],
    ['variables', user, { ...names, ...addresses }],
    ['variables over author.*', roles, { ...names, ...addresses }],
    ['variables alone', [], { ...names, ...addresses }],
    ['a variable of one role', roles, { GIT_COMMITTER_EMAIL: 'bob@example.org' }],
    ['an empty address', user, { GIT_AUTHOR_EMAIL: '' }],
    ['EMAIL', [], { ...names, EMAIL: ' all@example.org ' }],
    ['EMAIL below user.email', user, { EMAIL: 'all@example.org' }],
    ['EMAIL below an empty user.email', [['user.email', '']], { ...names, EMAIL: 'a@example.org' }],
    [
      'GIT_CONFIG_COUNT',
      roles,
      numbered([
        ['USER.Name', 'Numbered'],
        ['author.email', 'n@x'],
      ]),
    ],
    [
      'GIT_CONFIG_PARAMETERS over GIT_CONFIG_COUNT',
      user,
      {
        ...numbered(user),
        GIT_CONFIG_PARAMETERS: "'user.name'='It'\\''s me' 'user.email=old@example.org'",
      },
    ],
    ['user.useConfigOnly with a name', [...user, ['user.useConfigOnly', 'true']], {}],
    [
      'user.useConfigOnly with variables',
      [['user.useConfigOnly', 'true']],
      { ...names, ...addresses },
    ],
    ['a name with line ends and brackets', user, { GIT_AUTHOR_NAME: ' <A>\nB:, ' }],
  ];
  test.each(isFull ? sources : sources.filter((_, i) => i % 3 === 0))(
    'by %s',
    async (_, settings, env) => {
      const repo = nameless(settings);
      repo.gitWith({ env }, 'commit', '-q', '--allow-empty', '-m', 'native');
      const native = repo.git('log', '-1', format);
      await put(open(repo.root, { env }), { 'm/a.md': '1' });
      expect(repo.git('log', '-1', '--format=%s').trim()).toBe('m');
      expect(repo.git('log', '-1', format)).toBe(native);
    },
  );

  deep.each<[string, readonly (readonly [string, string])[], NodeJS.ProcessEnv, RegExp]>([
    ['an empty name', user, { GIT_AUTHOR_NAME: '' }, /GIT_AUTHOR_NAME is empty/],
    ['a name of punctuation', user, { GIT_COMMITTER_NAME: ':, ' }, /GIT_COMMITTER_NAME is empty/],
    [
      'an empty user.name',
      [
        ['user.name', ''],
        ['user.email', 'a@x'],
      ],
      {},
      /user\.name is empty/,
    ],
    ['user.useConfigOnly and no name', [['user.useConfigOnly', 'true']], addresses, /no name/],
    [
      'user.useConfigOnly and no address',
      [['user.useConfigOnly', 'true']],
      { ...names, EMAIL: 'all@example.org' },
      /no email/,
    ],
    ['a wrong count', user, { GIT_CONFIG_COUNT: 'x' }, /GIT_CONFIG_COUNT is not a number/],
    ['a missing key', user, { GIT_CONFIG_COUNT: '1' }, /GIT_CONFIG_KEY_0 is not set/],
    ['wrong quotes', user, { GIT_CONFIG_PARAMETERS: "'user.name=x" }, /cannot be read/],
  ])('and is refused where git refuses: %s', async (_, settings, env, reason) => {
    const repo = nameless(settings);
    const native = () => repo.gitWith({ env }, 'commit', '-q', '--allow-empty', '-m', 'native');
    expect(native).toThrow();
    await expect(put(open(repo.root, { env }), { 'm/a.md': '1' })).rejects.toMatchObject({
      code: 'unsupported',
      text: expect.stringMatching(reason),
    });
    expect(repo.status()).toEqual([]);
  });

  test.each(['0', '1'])('by a system file, unless GIT_CONFIG_NOSYSTEM is %s', async (no) => {
    const repo = nameless();
    repo.write('system', '[user]\n\tname = System\n');
    const env = {
      ...{ ...addresses, GIT_COMMITTER_NAME: 'Bob', GIT_CONFIG_SYSTEM: repo.path('system') },
      GIT_CONFIG_NOSYSTEM: no,
    };
    await put(open(repo.root, { env }), { 'm/a.md': '1' });
    const author = repo.git('log', '-1', '--format=%an').trim();
    expect(author).toBe(no === '0' ? 'System' : 'memory-bank');
    const known = () => repo.gitWith({ env }, 'config', 'user.name').trim();
    if (no === '0') expect(known()).toBe(author);
    else expect(known).toThrow();
  });

  test('but the time is that of the change, and without any name it is memory-bank', async () => {
    const repo = nameless();
    const env = { GIT_AUTHOR_DATE: '1000000000 +0000', GIT_COMMITTER_DATE: '1000000000 +0000' };
    await put(open(repo.root, { env }), { 'm/a.md': '1' });
    expect(repo.git('log', '-1', '--format=%an <%ae> %aI').trim()).toMatch(
      /^memory-bank <memory-bank@localhost> 2026-/,
    );
  });
});
