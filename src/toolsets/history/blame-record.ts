import { z } from 'zod';
import type { BlamedLine } from '../../core/history.ts';
import { defineTool } from '../../core/tool.ts';
import { cutDiff, shallowNote, shortId, tellCommit, withinBudget } from './answer.ts';
import { path, revision } from './history-fields.ts';

export const blameRecord = defineTool({
  name: 'blame_record',
  title: 'Who wrote this line',
  description: 'The commit that wrote each line of a record, its author, agent and tool.',
  effect: 'read',
  input: z.object({
    path,
    revision: revision.default('HEAD'),
    first_line: z.int().min(1).max(10_000_000).default(1),
    lines: z.int().min(1).max(1000).default(200),
  }),
  async handle({ history }, { path, revision, first_line, lines }) {
    const all = await history.blame(path, revision);
    const wanted = all.slice(first_line - 1, first_line - 1 + lines);
    const blame = withinBudget(stretches(wanted, first_line));
    const shown = new Set(blame.map(({ commit }) => commit));
    const commits = Object.fromEntries(
      wanted.flatMap(({ commit }) => {
        const { commit: id, ...told } = tellCommit(commit);
        return shown.has(id) ? [[id, told]] : [];
      }),
    );
    const next = (blame.at(-1)?.to ?? first_line - 1) + 1;
    return {
      path,
      blame,
      commits,
      total_lines: all.length,
      ...(next <= all.length && { next_line: next }),
      ...(wanted.some(({ boundary }) => boundary) && { note: shallowNote }),
    };
  },
});

/** Longer stretches are told in parts, so that an answer can end between two of them. */
const maxStretch = 2000;

/** Lines that follow each other and come from one commit, as one. */
function stretches(lines: readonly BlamedLine[], first: number) {
  const found: { from: number; to: number; commit: string; text: string }[] = [];
  for (const [i, { text, commit }] of lines.entries()) {
    const line = first + i;
    const last = found.at(-1);
    const shown = cutDiff(text);
    if (last?.commit === shortId(commit.oid) && last.text.length + shown.length <= maxStretch) {
      last.to = line;
      last.text += shown;
    } else found.push({ from: line, to: line, commit: shortId(commit.oid), text: shown });
  }
  return found;
}
