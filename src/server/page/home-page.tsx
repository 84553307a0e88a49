import type { Entry, Home, Point, RecordList, StaleEvidence } from './answers.ts';
import { useAnswer } from './data.ts';
import { CommitEntry, RecordLink, Time, Waiting } from './parts.tsx';
import { addressOfRecord, addressTo, type Route } from './route.ts';

/** The first page: what matters now. */
export function HomePage({ route: { at } }: { route: Route }) {
  const answer = useAnswer<Home>('/memory/home', { at });
  return (
    <>
      <h1>What matters now</h1>
      <Waiting answer={answer}>
        {({ now, decisions, recent, problems, conflicts, records, branch, commit }) => (
          <div class="columns">
            <Attention problems={problems} conflicts={conflicts} isPast={at !== undefined} />
            <Points title="Current work" points={now} nothing="Nothing is in progress." />
            <Points
              title="Latest decisions"
              points={decisions}
              nothing="No decision is recorded yet."
            />
            <Recent entries={recent} />
            <section>
              <h2>In the memory</h2>
              {records.length === 0 && <p class="faint">The memory has no records yet.</p>}
              <ul class="plain counts">
                {records.map(({ toolset, title, type, count }) => (
                  <li key={type}>
                    <a href={addressTo('records', '', { toolset, type })} title={title}>
                      {type} <span class="tag">{count}</span>
                    </a>
                  </li>
                ))}
              </ul>
              <p class="faint">
                {branch === undefined ? 'No branch' : `Branch ${branch}`}
                {commit && ` at ${commit.oid.slice(0, 12)}`}
              </p>
            </section>
          </div>
        )}
      </Waiting>
    </>
  );
}

/** The work for a person: conflicts, files that cannot be read, and records whose code has changed. */
function Attention({
  problems,
  conflicts,
  isPast,
}: Pick<Home, 'problems' | 'conflicts'> & { isPast: boolean }) {
  // The code is known as it is now only.
  const evidence = useAnswer<StaleEvidence>(isPast ? undefined : '/memory/evidence');
  const bad = evidence.data?.findings.filter(
    ({ severity }) => severity === 'error' || severity === 'warning',
  );
  const all = [...problems, ...(bad ?? [])];
  if (all.length + conflicts.length === 0) return null;
  return (
    <section>
      <h2>Needs a person</h2>
      <ul class="plain points">
        {conflicts.length > 0 && (
          <li>
            <p class="problem">A merge has left records in conflict: {conflicts.join(', ')}</p>
            <a href={addressTo('conflicts')}>Resolve the conflicts</a>
          </li>
        )}
        {all.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <p class="problem">{message}</p>
            <a href={addressOfRecord(path)}>{path}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Points({
  title,
  points,
  nothing,
}: {
  title: string;
  points: readonly Point[];
  nothing: string;
}) {
  return (
    <section>
      <h2>{title}</h2>
      {points.length === 0 && <p class="faint">{nothing}</p>}
      <ul class="plain points">
        {points.map((point, i) => (
          <li key={i}>
            <p class="text">{point.text}</p>
            <div class="faint">
              <RecordLink record={point} /> {point.at !== undefined && <Time at={point.at} />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Recent({ entries }: { entries: readonly Entry[] }) {
  const numbers = new Map<string, number>();
  for (const { commit } of entries) {
    const name = commit.agent?.replace(/\/.*/, '') ?? commit.author;
    numbers.set(name, (numbers.get(name) ?? 0) + 1);
  }
  return (
    <section>
      <h2>Recent changes</h2>
      {entries.length === 0 && <p class="faint">There is no change yet.</p>}
      <p class="faint">
        {[...numbers].map(([name, count]) => (
          <span key={name} class="tag">
            {name} {count}
          </span>
        ))}
      </p>
      <ol class="plain">
        {entries.slice(0, 8).map((entry) => (
          <CommitEntry key={entry.commit.oid} entry={entry} />
        ))}
      </ol>
      <p>
        <a href={addressTo('timeline')}>All changes</a>
      </p>
    </section>
  );
}

/** The records of a toolset or type. */
export function ListPage({ route: { at, query } }: { route: Route }) {
  const [toolset, type] = [query.get('toolset') ?? undefined, query.get('type') ?? undefined];
  const skip = Number(query.get('skip') ?? 0);
  const answer = useAnswer<RecordList>('/memory/records', { at, toolset, type, skip });
  return (
    <>
      <h1>{type ?? toolset ?? 'All records'}</h1>
      <Waiting answer={answer}>
        {({ records, total }) => (
          <>
            <p class="faint">
              {total} {total === 1 ? 'record' : 'records'}
            </p>
            <ul class="plain">
              {records.map((record) => (
                <li key={record.path}>
                  <RecordLink record={record} /> <span class="faint path">{record.path}</span>
                </li>
              ))}
            </ul>
            <p class="pages">
              {skip > 0 && (
                <a
                  href={addressTo('records', '', {
                    toolset,
                    type,
                    skip: String(Math.max(0, skip - 200)),
                  })}
                >
                  Previous
                </a>
              )}{' '}
              {skip + records.length < total && (
                <a
                  href={addressTo('records', '', {
                    toolset,
                    type,
                    skip: String(skip + records.length),
                  })}
                >
                  Next
                </a>
              )}
            </p>
          </>
        )}
      </Waiting>
    </>
  );
}
