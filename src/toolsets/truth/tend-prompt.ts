import type { Context } from '../../core/declarations/context.ts';
import type { Prompt } from '../../core/declarations/toolset.ts';
import type { EvidenceReport } from '../../core/evidence/verdict.ts';
import { MemoryError } from '../../core/values/error.ts';

/** Limit of the findings that a worklist names. */
const maxItems = 40;
/** Limit of the changed lines of code that one item shows. */
const maxDiffLines = 12;

/** A worklist for the client's agent: everything in the memory that may no longer be true. */
export const tendPrompt: Prompt = {
  name: 'tend-memory',
  title: 'Tend the memory',
  description: 'A worklist of records that are outdated, contradictory, similar, expired or large.',
  async text(context) {
    const items = await worklist(context);
    if (items.length === 0) return 'The memory needs no work: nothing outdated was found.';
    const rest = items.length - maxItems;
    return [
      'Bring the memory of this project up to date. Work on a branch of its own, so that a person can review the result as a pull request: create and check out the branch memory/tend first, and do not merge it.',
      'For each item below: read the record and the code that it names. If the record is still true, call verify_memory with its path. If the code has changed what it says, correct the record. If another record replaces it, call verify_memory on the new one with supersedes. Merge records that say the same. Remove a record only if nothing in it is true any more. Do not guess: leave what you cannot decide, and list it at the end.',
      [
        ...items.slice(0, maxItems).map((item) => `- [ ] ${item}`),
        ...(rest > 0 ? [`- And ${rest} more: call this prompt again when these are done.`] : []),
      ].join('\n'),
      'Finish with a summary of the changes for the pull request.',
    ].join('\n\n');
  },
};

async function worklist(context: Context): Promise<readonly string[]> {
  const { records } = await reportOf(context);
  const items = new Map<string, { readonly messages: string[]; readonly diffs: string[] }>();
  const itemOf = (path: string) => {
    const item = items.get(path) ?? { messages: [], diffs: [] };
    items.set(path, item);
    return item;
  };
  for (const { path, findings } of records) {
    for (const finding of findings) {
      if (finding.severity === 'info') continue;
      const { messages, diffs } = itemOf(path);
      messages.push(finding.message);
      if (finding.kind === 'evidence' && finding.diff) diffs.push(finding.diff);
    }
  }
  for (const [path, similar] of await context.store.alike()) {
    const others = similar.map((one) => `${one.path} (${Math.round(100 * one.likeness)}%)`);
    itemOf(path).messages.push(`It says nearly the same as ${others.join(', ')}.`);
  }
  return [...items]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { messages, diffs }]) =>
      [`${path}: ${messages.join(' ')}`, ...quoted(diffs)].join('\n'),
    );
}

/** The changed lines of the code, as an indented block below an item. */
function quoted(diffs: readonly string[]): string[] {
  const lines = diffs.flatMap((diff) => diff.trimEnd().split('\n'));
  if (lines.length === 0) return [];
  const rest = lines.length - maxDiffLines;
  const shown = lines.slice(0, maxDiffLines);
  return [...shown, ...(rest > 0 ? [`… ${rest} more lines`] : [])].map((line) => `      ${line}`);
}

async function reportOf({ history, project }: Context): Promise<Pick<EvidenceReport, 'records'>> {
  if ((await project.head()).oid === undefined) return { records: [] };
  try {
    return await history.evidence({ tending: true, docs: false });
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return { records: [] };
    throw error;
  }
}
