import { useState } from 'preact/hooks';
import type { CommitLog, Entry } from './answers.ts';
import { useAnswer } from './data.ts';
import { CommitEntry, Waiting } from './parts.tsx';
import type { Route } from './route.ts';

/** Number of commits in one request. */
const page = 50;

/** The commits of the memory, newest first. */
export function TimelinePage({ route: { at, query } }: { route: Route }) {
  const [skip, setSkip] = useState(0);
  const path = query.get('path') ?? undefined;
  const answer = useAnswer<CommitLog>('/memory/log', { at, path, skip, limit: page });
  return (
    <>
      <h1>Timeline</h1>
      <Waiting answer={answer}>
        {({ entries, total }) => (
          <>
            <p class="faint">
              {total} {total === 1 ? 'commit' : 'commits'}
            </p>
            {byDay(entries).map(([day, list]) => (
              <section key={day}>
                <h2>{day}</h2>
                <ol class="plain">
                  {list.map((entry) => (
                    <CommitEntry key={entry.commit.oid} entry={entry} />
                  ))}
                </ol>
              </section>
            ))}
            <p class="pages">
              {skip > 0 && (
                <button type="button" onClick={() => setSkip(Math.max(0, skip - page))}>
                  Newer
                </button>
              )}{' '}
              {skip + page < total && (
                <button type="button" onClick={() => setSkip(skip + page)}>
                  Older
                </button>
              )}
            </p>
          </>
        )}
      </Waiting>
    </>
  );
}

function byDay(entries: readonly Entry[]): [string, Entry[]][] {
  const days = new Map<string, Entry[]>();
  for (const entry of entries) {
    const day = new Date(entry.commit.at).toLocaleDateString(undefined, { dateStyle: 'full' });
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days];
}
