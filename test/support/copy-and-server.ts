import { CopySearch } from '../../src/server/copy/copy-search.ts';
import { PastStates } from '../../src/server/copy/past-in-copy.ts';
import { unpackRecord } from '../../src/server/copy/record-in-copy.ts';
import type { Found, RecordData, StateComparison } from '../../src/server/page/answers.ts';
import { compare } from '../../src/server/view/history-operations.ts';
import type { MemoryOperation } from '../../src/server/view/operation.ts';
import { record } from '../../src/server/view/record-operations.ts';
import { search } from '../../src/server/view/search-operation.ts';
import { projectApp } from './project-app.ts';
import type { Repo } from './repo.ts';
import { partsOf } from './site.ts';

/** The arguments of a request. */
type Asked = Readonly<Record<string, string>>;

/** Returns the answers of a server and those of a copy, of the same memory. */
export async function copyAndServer(repo: Repo, files: ReadonlyMap<string, string>) {
  const app = projectApp(repo.root);
  const session = app.connect();
  const toolsets = await app.toolsets();
  const types = toolsets.flatMap(({ records }) => records);
  const inReview = () => Promise.reject(new Error('no review'));
  const { base, ...parts } = partsOf(files);
  const records = base.starts.map((_, i) => parts[`records-${i}`] ?? {});
  const copy = await CopySearch.of(records, base, parts);
  const ask = async <T>(operation: MemoryOperation, args: Asked) =>
    // Each operation answers with the type of its page.
    (await app.run(session, operation.id, {}, (context) =>
      operation.run(context, args, { toolsets, types, inReview }),
    )) as T;
  const found = async (args: Asked): Promise<Found> => {
    const answer = await ask<Found>(search, args);
    // As the page asks again until the index of the server is complete.
    return answer.isPart ? found(args) : answer;
  };
  return {
    parts,
    server: {
      find: found,
      read: (path: string, at: string) => ask<RecordData>(record, { path, at }),
      compare: (path: string, from: string, to: string) =>
        ask<StateComparison>(compare, { path, from, to }),
    },
    copy: {
      find: (args: Asked) => copy.find(new URLSearchParams(args)),
      /** The past states of each record. */
      pasts: records.flatMap((some, i) =>
        Object.entries(some).map(([path, packed]) => {
          const states = parts[`states-${i}`]?.[path] ?? [];
          return { path, past: new PastStates(path, unpackRecord(packed), states) };
        }),
      ),
    },
    close: () => app.close(),
  };
}
