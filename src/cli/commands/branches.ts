import type { BranchInfo, ChangeKind } from '../../core/history.ts';
import { type Command, flagNumber } from '../command.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';

/** `memory-bank branches`: the local branches, and how their memory differs from the current one. */
export const branches: Command = {
  about: 'show the branches and how their memory differs from the current one',
  flags: { limit: { value: 'number', about: 'at most this many; default: 30' } },
  async run(invocation) {
    const { app, values } = invocation;
    const limit = flagNumber(values, 'limit', 30, 1, 100_000);
    const { branches, total } = await inSession(invocation, (session, call) =>
      app.run(session, 'branches', call, ({ history }) => history.branches(limit)),
    );
    const screen = new Screen();
    const left = total - branches.length;
    const rest = left > 0 ? [screen.paint('faint', `${left} more: --limit ${total}`)] : [];
    const lines = [...branches.flatMap((branch) => branchLines(screen, branch)), ...rest];
    await screen.show(lines.map((line) => `${line}\n`).join(''));
    return 0;
  },
};

const kinds: readonly ChangeKind[] = ['added', 'changed', 'moved', 'removed'];

function branchLines(screen: Screen, branch: BranchInfo): string[] {
  const { name, current, commit, ahead, behind, unrelated, changes } = branch;
  const count = (kind: ChangeKind) => changes.filter(({ change }) => change === kind).length;
  const counts = kinds.flatMap((kind) => (count(kind) > 0 ? `${count(kind)} ${kind}` : []));
  const records = counts.length === 0 ? 'the same records' : `records: ${counts.join(', ')}`;
  const origin = unrelated ? 'no commit in common; ' : '';
  const id = screen.paint('key', commit.oid.slice(0, 12));
  const head = `${current ? '*' : ' '} ${screen.paint('title', name)}  ${id}`;
  return [
    `${head}  ${screen.fit(commit.subject, 72)}`,
    ...(current
      ? []
      : [screen.paint('faint', `    ${origin}${ahead} ahead, ${behind} behind; ${records}`)]),
  ];
}
