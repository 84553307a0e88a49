import type { CallOptions } from '../../app/session/call-context.ts';
import { hasRemote } from '../../app/session/placed-apart.ts';
import { counted } from '../../core/answers/painter.ts';
import type { Layout, LayoutInfo } from '../../core/declarations/context.ts';
import type { Session } from '../../core/memory/session.ts';
import { invalid } from '../../core/values/error.ts';
import { flagText, type Invocation } from '../line/command.ts';
import { agrees } from '../line/prompt.ts';

/** The layouts of logs, as options of commands name them. */
export const layouts: readonly Layout[] = ['log', 'entries'];

const why =
  'Servers merge pull requests line by line, so two that each log a decision or progress conflict in a log that is one file';

/** The layout that a setup gives a memory, and what the plan says about it. */
export interface ChosenLayout {
  /** Undefined for one that stays. */
  readonly to: Layout | undefined;
  readonly notes: readonly string[];
}

/**
 * Chooses how a memory stores its logs: as the option says, or for a new memory in a repository with a remote
 * as a person answers. Without the option, an existing memory keeps its layout.
 *
 * @throws MemoryError `already_exists` or `unsupported` if the layout is not possible here.
 */
export async function chosenLayout(
  { app, values }: Pick<Invocation, 'app' | 'values'>,
  root: string,
  session: Session,
  call: CallOptions,
  ask: boolean,
): Promise<ChosenLayout> {
  const given = layoutIn(flagText(values, 'layout'));
  const isNew = await app.run(session, 'init', call, async ({ project }) => {
    return !(await project.info()).initialized;
  });
  const isOffered = given === undefined && isNew && hasRemote(root);
  if (isOffered && !ask) {
    return { to: given, notes: [`${why}: "--layout entries" stores each entry as a file.`] };
  }
  const question = `${why}. Store each entry as a file?`;
  const to = isOffered && (await agrees(question)) ? 'entries' : given;
  if (to === undefined) return { to, notes: [] };
  const info = await app.run(session, 'init', call, ({ project }) => project.layout(to));
  if (to === info.layout && info.files.length === 0) return { to: undefined, notes: [] };
  return { to, notes: [isNew ? newLayout[to] : conversionText(info, to)] };
}

const newLayout: Readonly<Record<Layout, string>> = {
  log: 'Each log of the memory is one file (layout: log).',
  entries: 'Each entry of the logs gets a file of its own (layout: entries), in a commit.',
};

/**
 * The layout that a person names.
 *
 * @throws MemoryError `invalid_input` for any other text.
 */
export function layoutIn(text: string | undefined): Layout | undefined {
  const layout = layouts.find((one) => one === text);
  if (layout !== undefined || text === undefined) return layout;
  throw invalid(['layout'], 'must be "log" or "entries"');
}

/** Describes what a conversion does to the entries that a memory has. */
export function conversionText({ decisions, progress }: LayoutInfo, to: Layout): string {
  const entries = `${counted(decisions, 'decision')} and ${counted(progress, 'progress entry')}`;
  return to === 'log'
    ? `The files of ${entries} become decisionLog.md and progress.md.`
    : `${entries} get files of their own; every tool reads them as before.`;
}
