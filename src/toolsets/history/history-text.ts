import { counted, type Painter } from '../../core/answers/painter.ts';
import type { CommitInfo } from '../../core/memory/commit-log.ts';

/** Time, author and means of a commit. */
export function provenanceText({ at, author, agent, tool, mode }: CommitInfo): string {
  const means = [agent, tool, mode === undefined ? undefined : `mode ${mode}`];
  return [at.replace('T', ' ').replace(/(\.\d+)?Z$/, 'Z'), author, ...means]
    .filter((part) => part !== undefined)
    .join(' · ');
}

/** Makes the line below a list that was cut off. */
export function restLines(painter: Painter, left: number, total: number, what: string): string[] {
  return left > 0 ? [painter.paint('faint', `${counted(left, what)}: --limit ${total}`)] : [];
}
