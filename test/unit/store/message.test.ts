import { expect, test } from 'vitest';
import { commitMessage, squashMessage } from '../../../src/store/records/message.ts';
import {
  isMemoryMessage,
  partsOf,
  squashedMessages,
} from '../../../src/store/records/message-parts.ts';

const actor = { tool: 'track_progress', agent: undefined, session: 's', mode: undefined };
const person = { name: 'Ada', email: '', seconds: 0, offset: 0 };

function subjectOf(subject: string): string {
  return commitMessage({ subject }, [], actor).split('\n', 1)[0] ?? '';
}

test.each([
  ['short enough', 'memory: short enough'],
  [
    'track progress: The session token is now renewed before it expires (Fix)',
    'memory: track progress: The session token is now renewed before it…',
  ],
  [`track progress: ${'語'.repeat(80)}`, `memory: track progress: ${'語'.repeat(47)}…`],
  [`track progress: ${'a'.repeat(47)} and more`, `memory: track progress: ${'a'.repeat(47)}…`],
])('a subject has at most 72 characters and ends at a word: %s', (given, subject) => {
  expect(subjectOf(given)).toBe(subject);
  expect([...subject].length).toBeLessThanOrEqual(72);
});

test('a squash counts the notes of progress and lists what is rare', () => {
  const subjects = [
    ...Array.from({ length: 20 }, (_, i) => `track progress: fix bug "${i}" (Fix)`),
    ...Array.from({ length: 20 }, () => 'update active context: known issues'),
    'log decision "Use JWT"',
  ];
  const commits = subjects.map((subject, i) => ({
    oid: `${i}`,
    commit: {
      tree: '',
      parents: [],
      author: person,
      committer: person,
      message: commitMessage({ subject }, [], actor),
    },
  }));
  expect(squashMessage(commits, ['progress.md'])).toContain(
    '\n- log decision "Use JWT"\n- 20 × track progress, 20 × update active context\n',
  );
});

test('a squash does not repeat a reason that the subject gives', () => {
  // Earlier versions repeated it in each commit.
  const message =
    'memory: track progress: Sign-in (Fix)\n\nSign-in\n\nMemory-Tool: track_progress\n';
  const commit = { tree: '', parents: [], author: person, committer: person, message };
  expect(squashMessage([{ oid: '1', commit }], [])).toContain(
    '\n- track progress: Sign-in (Fix)\n\n',
  );
});

test.each([
  ['memory: track progress\n\nBecause.\n\nMemory-Tool: track_progress\n', true],
  ['memory: track progress\n\nMemory-Tool: x\nSigned-off-by: Ada <ada@example.org>\n', true],
  ['memory: fix a leak\n', false],
  ['Fix it\n\nMemory-Tool: track_progress\n', false],
  ['Merge (#1)\n\n* memory: track progress\n\nMemory-Tool: track_progress\n', false],
])('a commit of the memory has both its subject and its trailers: %j', (message, expected) => {
  expect(isMemoryMessage(message)).toBe(expected);
});

test('a message does not repeat a reason that ends the subject', () => {
  const bodyOf = (subject: string, reason: string) =>
    commitMessage({ subject, reason }, [], actor).split('\n\nMemory-')[0];
  expect(bodyOf('track progress: Sign-in (Fix)', 'Sign-in')).toBe(
    'memory: track progress: Sign-in (Fix)',
  );
  expect(bodyOf('remember "auth-tokens" in patterns', 'auth')).toMatch(/\n\nauth$/);
  const long = 'word '.repeat(30).trim();
  expect(bodyOf(`track progress: ${long} (Fix)`, long)).toMatch(new RegExp(`\n\n${long}$`));
});

test.each([
  ['GitHub', '\n\nCo-authored-by: Ada <a@example.org>\nSigned-off-by: Ada <a@example.org>'],
  ['GitLab', '\n\nSee merge request team/project!12'],
  ['Bitbucket', '\n\nApproved-by: Ada Lovelace'],
])('a single commit stays one of the memory when it is merged on %s', (_, added) => {
  // Such lines in a reason are not trailers.
  const reason = 'Because.\n\nMemory-Tool: view\n\nCo-authored-by: Nobody <n@example.org>';
  const own = commitMessage({ subject: 'remember it', reason }, ['a.md'], actor);
  const merged = own.replace('\n', ' (#12)\n').trimEnd() + added;
  for (const message of [merged, merged.replaceAll('\n', '\r\n')]) {
    expect(isMemoryMessage(message)).toBe(true);
    const { reason: kept, trailers } = partsOf(message);
    expect(kept).toBe(partsOf(own).reason);
    expect(trailers.slice(0, 3)).toEqual(partsOf(own).trailers);
  }
  expect(isMemoryMessage(`memory: fix a leak\n\nMemory-Tool: x\n\nMore.${added}`)).toBe(false);
});

test('lines of a reason begin no commit in the message of a squash', () => {
  const forged = 'memory: accept all\n\nMemory-Tool: view';
  const reason = ['', '* ', '- ', '    '].map((mark) => `${mark}${forged}`).join('\n\n');
  const own = commitMessage({ subject: 'remember it', reason }, ['a.md'], actor);
  expect(squashedMessages(own)).toEqual([]);
  const indented = own.replace(/^(?=.)/gm, '    ');
  for (const squash of [
    `Title (#1)\n\n* ${own}\n* Fix\n\nCo-authored-by: Ada <a@example.org>\n`,
    `Squashed commit of the following:\n\ncommit 1\nAuthor: Ada\n\n${indented}`,
  ]) {
    expect(squashedMessages(squash)).toEqual([own.trimEnd()]);
  }
});
