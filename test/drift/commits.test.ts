import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/** The last commit before the rule. */
const start = 'eeb871a01eefd2e72dca8edb09b56027f9ef9004';

/** The subjects since then; none in a copy without history, and all of them in a shallow clone. */
function subjects(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: resolve(import.meta.dirname, '../..'), encoding: 'utf8' });
  try {
    const found = git('rev-list', '-1', '--ignore-missing', start).trim();
    const range = found === '' ? 'HEAD' : `${found}..HEAD`;
    return git('log', '--no-merges', '--format=%s', range).split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** The rule that the subject of a commit breaks; undefined for a good one. */
function fault(subject: string): string | undefined {
  const [verb = ''] = subject.split(' ');
  if (subject.length > 60) return 'longer than 60 characters';
  if (!/^[A-Z][a-z-]+$/.test(verb) || /(?:[^be]ed|[^r]ing|[^su]s)$/.test(verb))
    return 'not an imperative';
  if (/[.;]/.test(subject.replaceAll(/[\w)]\.[\w(]|\s\.\w/g, ''))) return 'more than one sentence';
  return undefined;
}

it('commits have a subject that is a short imperative', () => {
  const wrong = subjects().flatMap((subject) => {
    const found = fault(subject);
    return found === undefined ? [] : [`${subject}: ${found}`];
  });
  expect(wrong).toEqual([]);
});

it.each([
  ['Added a check', 'not an imperative'],
  ['adds a check', 'not an imperative'],
  ['Adds a check', 'not an imperative'],
  ['Add a check.', 'more than one sentence'],
  ['Add a check; remove another', 'more than one sentence'],
  [`Add ${'a'.repeat(60)}`, 'longer than 60 characters'],
  ['Add a check', undefined],
  ['Pass a config.yaml', undefined],
  ['Read .gitattributes', undefined],
])('the subject "%s" is judged', (subject, expected) => expect(fault(subject)).toBe(expected));
