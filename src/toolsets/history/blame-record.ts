import * as z from 'zod';
import type { Painter } from '../../core/answers/painter.ts';
import { defineOperation } from '../../core/declarations/tool.ts';
import type { CommitInfo } from '../../core/memory/commit-log.ts';
import type { BlamedLine } from '../../core/memory/history.ts';
import { commitAnswer, cutDiff, shallowNote, shortId, withinBudget } from './answer.ts';
import { forPeople, path, revision } from './history-fields.ts';

/** Number of lines in an answer by default. */
const usualLines = 200;

interface BlameRequest {
  readonly path: string;
  readonly revision: string;
  readonly first_line?: number;
  readonly lines?: number;
}

export const blameRecord = defineOperation({
  name: 'blame_record',
  title: 'Who wrote this line',
  description:
    'Who wrote each line of a record: the commit, its author, agent and tool. Who changed it at all: record_history.',
  effect: 'read',
  input: z.object({
    path,
    revision: revision.default('HEAD'),
    first_line: z.int().min(1).max(10_000_000).default(1),
    lines: z.int().min(1).max(1000).default(usualLines),
  }),
  run: ({ history }, { path, revision }: BlameRequest) => history.blame(path, revision),
  answer(all, { path, first_line = 1, lines = usualLines }) {
    const wanted = all.filter(({ line }) => line >= first_line).slice(0, lines);
    const blame = withinBudget(stretches(wanted));
    const shown = new Set(blame.map(({ commit }) => commit));
    const commits = Object.fromEntries(
      wanted.flatMap(({ commit }) => {
        const { commit: id, ...rest } = commitAnswer(commit);
        return shown.has(id) ? [[id, rest]] : [];
      }),
    );
    const next = (blame.at(-1)?.to ?? first_line - 1) + 1;
    const last = all.at(-1)?.line ?? 0;
    return {
      path,
      blame,
      commits,
      ...confirmedField(wanted),
      total_lines: all.length,
      ...(next <= last && { next_line: next }),
      ...(wanted.some(({ boundary }) => boundary) && { note: shallowNote }),
    };
  },
  command: {
    name: 'blame',
    about: 'show who wrote each line of a record: commit, day, author, agent',
    operands: ['path'],
    options: { revision: 'as-of' },
    input: z.object({
      path: forPeople.path,
      revision: forPeople.revision
        .default('HEAD')
        .describe('the record as a commit, branch or date has it'),
    }),
    show: blameLines,
  },
});

/** The lines that a person has confirmed as they are, or nothing if there are none. */
function confirmedField(lines: readonly BlamedLine[]) {
  const confirmed = confirmedStretches(lines).map(({ from, to, commit }) => {
    return { from, to, commit: shortId(commit.oid), at: commit.at, author: commit.author };
  });
  return confirmed.length > 0 ? { confirmed } : {};
}

/** The stretches of lines that one commit confirmed. */
function confirmedStretches(lines: readonly BlamedLine[]) {
  const found: { from: number; to: number; commit: CommitInfo }[] = [];
  for (const { line, confirmed } of lines) {
    const last = found.at(-1);
    if (last && last.to === line - 1 && last.commit.oid === confirmed?.oid) last.to = line;
    else if (confirmed) found.push({ from: line, to: line, commit: confirmed });
  }
  return found;
}

/** Maximum length of a stretch, in characters: an answer can end only between two stretches. */
const maxStretch = 2000;

type Stretch = {
  readonly from: number;
  to: number;
  readonly commit: string;
  /** Of a squash that contains several commits: the subject and agent of the one that wrote the lines. */
  readonly subject?: string;
  readonly agent?: string;
  text: string;
};

/** Joins consecutive lines of the same commit. */
function stretches(lines: readonly BlamedLine[]): Stretch[] {
  const subjects = new Map<string, Set<string>>();
  for (const { commit } of lines) {
    subjects.set(commit.oid, (subjects.get(commit.oid) ?? new Set()).add(commit.subject));
  }
  const found: Stretch[] = [];
  for (const { text, line, commit } of lines) {
    const { subject, agent } = commit;
    const isPart = (subjects.get(commit.oid)?.size ?? 1) > 1;
    const part: Pick<Stretch, 'subject' | 'agent'> = isPart
      ? { subject, ...(agent !== undefined && { agent }) }
      : {};
    const last = found.at(-1);
    const shown = cutDiff(text);
    const isSame = last?.commit === shortId(commit.oid) && last.subject === part.subject;
    if (isSame && last.text.length + shown.length <= maxStretch) {
      last.to = line;
      last.text += shown;
    } else found.push({ from: line, to: line, commit: shortId(commit.oid), ...part, text: shown });
  }
  return found;
}

function blameLines(lines: readonly BlamedLine[], painter: Painter): string[] {
  const writers = lines.map(({ commit: { author, agent } }) => {
    const name = author.replace(/ <[^<>]*>$/, '');
    return painter.fit(agent === undefined ? name : `${name}, ${agent}`, 40);
  });
  const width = Math.max(0, ...writers.map((writer) => writer.length));
  const digits = String(lines.at(-1)?.line ?? 0).length;
  const written = lines.map(({ text, line: number, commit, boundary }, i) => {
    // As in git, the mark of a boundary: in a shallow clone the line may be older than this commit.
    const id = `${boundary ? '^' : ' '}${shortId(commit.oid)}`;
    const writer = `${commit.at.slice(0, 10)} ${(writers[i] ?? '').padEnd(width)}`;
    const head = `${writer} ${String(number).padStart(digits)}`;
    const line = painter.plain(text.replace(/\n$/, ''));
    return `${painter.paint('key', id)} ${painter.paint('faint', head)} ${line}`;
  });
  const confirmed = confirmedStretches(lines).map(({ from, to, commit }) => {
    const who = `${commit.at.slice(0, 10)} by ${commit.author.replace(/ <[^<>]*>$/, '')}`;
    return painter.paint(
      'good',
      `confirmed ${who}, ${shortId(commit.oid)}: lines ${from} to ${to}`,
    );
  });
  return [...written, ...confirmed];
}
