import { text } from 'node:stream/consumers';
import {
  mergePullRequests,
  type PullRequest,
  type PullRequestOutcome,
} from '../../app/session/merging.ts';
import { findRoot } from '../../app/session/root.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagText } from '../line/command.ts';
import { outputFlag, showResult } from '../line/result.ts';
import { ownProgram } from '../setup/program/own-entry.ts';

const usualRemote = 'origin';

/** `memory-bank merge-pull-requests`: for a code host, whose merge runs no driver. */
export const mergePulls: Command = {
  about:
    'merge the base into pull requests that conflict with it in files of the memory only, and push them; stdin has one on each line: <branch> <base>',
  flags: {
    remote: { value: 'name', about: 'the remote that has the branches', default: usualRemote },
    ...outputFlag,
  },
  async run({ options, values }) {
    if (process.stdin.isTTY) {
      throw new MemoryError('invalid_input', 'stdin is a terminal.', {
        hint: 'Write the branches into it: echo "my-branch main" | memory-bank merge-pull-requests',
      });
    }
    const requests = (await text(process.stdin)).split('\n').flatMap(readLine);
    const { path: folder } = await findRoot({ ...options.place, clientRoots: async () => [] });
    const remote = flagText(values, 'remote') ?? usualRemote;
    const { env } = process;
    const { signal } = new AbortController();
    const clone = { folder, remote, program: ownProgram(), env, signal };
    const outcomes = requests.length === 0 ? [] : await mergePullRequests(clone, requests);
    const all = requests.flatMap((request, i) => {
      const outcome = outcomes[i];
      return outcome ? [{ ...request, ...outcome }] : [];
    });
    await showResult(values, { pull_requests: all }, (screen) =>
      all.length === 0
        ? ['There is no pull request.']
        : all.map((one) => {
            const isLeft = one.state !== 'clean' && one.state !== 'merged';
            const line = `${one.head} into ${one.base}: ${outcomeText(one)}`;
            return isLeft ? screen.paint('bad', line) : screen.plain(line);
          }),
    );
    return 0;
  },
};

/** Reads `<branch> <base>`, and the repositories of both where they can differ. */
function readLine(line: string, index: number): PullRequest[] {
  const [head, base, from, to, ...others] = line.split(/\s+/).filter((word) => word !== '');
  if (head === undefined) return [];
  if (base !== undefined && others.length === 0) return [{ head, base, isFromFork: from !== to }];
  const what = `Line ${index + 1} of stdin is not "<branch> <base>": ${JSON.stringify(line)}`;
  throw new MemoryError('invalid_input', what, {
    hint: 'The repositories of both can follow, to tell a fork.',
  });
}

const byHand = 'Merge the base in a clone that has the merge driver, and push.';

function outcomeText(one: PullRequest & PullRequestOutcome): string {
  const paths = one.paths.join(', ');
  switch (one.state) {
    case 'clean':
      return 'the server can merge it.';
    case 'merged':
      return `was in conflict in the memory only: merged by record and pushed as ${one.commit?.slice(0, 12)}.`;
    case 'fork':
      return `is from a fork, to which nothing can be pushed here. ${byHand}`;
    case 'missing':
      return 'a branch of it does not exist on the remote.';
    case 'outside':
      return `also conflicts outside the memory: ${paths}. ${byHand}`;
    case 'conflict':
      return `the memory conflicts by record: ${paths}. ${byHand} "memory-bank resolve" shows what to decide.`;
    case 'refused':
      return `was not merged or not pushed: ${one.complaint}`;
  }
}
