import { useState } from 'preact/hooks';
import type { Entry, Home, Point, StaleEvidence } from './answers.ts';
import { change, RefusedRequest, useAnswer } from './data.ts';
import { CommitEntry, MendCommand, RecordLink, Time, Waiting } from './parts.tsx';
import { addressOfRecord, addressTo, isCopy, type Route } from './route.ts';

/** The first page: what matters now. */
export function HomePage({ route: { at } }: { route: Route }) {
  const answer = useAnswer<Home>('/memory/home', { at });
  return (
    <>
      <h1>What matters now</h1>
      <Waiting answer={answer}>
        {({ now, decisions, recent, since, records, branch, commit, ...home }) => (
          <div class="columns">
            <div>
              <Attention
                {...home}
                branch={branch}
                isPast={at !== undefined}
                onDone={answer.reload}
              />
              <Points title="Current work" points={now} nothing="Nothing is in progress." />
              <Points
                title="Latest decisions"
                points={decisions}
                nothing="No decision is recorded yet."
              />
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
            </div>
            <Recent entries={recent} since={since} isPast={at !== undefined} />
          </div>
        )}
      </Waiting>
    </>
  );
}

/** The work for a person: conflicts, unreviewed commits, damaged files, and stale evidence. */
function Attention({
  problems,
  conflicts,
  unreviewed,
  waiting,
  branch,
  isPast,
  onDone,
}: Pick<Home, 'problems' | 'conflicts' | 'unreviewed' | 'waiting' | 'branch'> & {
  isPast: boolean;
  onDone: () => void;
}) {
  // The code is known as it is now only.
  const evidence = useAnswer<StaleEvidence>(isPast ? undefined : '/memory/evidence');
  const bad = evidence.data?.findings.filter(
    // The problems name the duplicates already.
    ({ severity, verdict }) =>
      (severity === 'error' || severity === 'warning') && verdict !== 'duplicate',
  );
  const all: { path: string; message: string; mend?: string | undefined }[] = [
    ...problems,
    ...(bad ?? []),
  ];
  if (all.length + conflicts.length + waiting === 0 && !unreviewed) return null;
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
        {waiting > 0 && (
          <li>
            <p>
              The changes of {waiting === 1 ? 'an agent wait' : `${waiting} agents wait`} for a
              review
            </p>
            <a href={addressTo('branches')}>Review them</a>
          </li>
        )}
        {unreviewed && <Unreviewed unreviewed={unreviewed} branch={branch} onDone={onDone} />}
        {all.map(({ path, message, mend }) => (
          <li key={`${path} ${message}`}>
            <p class="problem">{message}</p>
            <MendCommand mend={mend} />
            <a href={addressOfRecord(path)}>{path}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The commits of agents that no person has looked at; this clone keeps the mark. */
function Unreviewed({
  unreviewed: { count, agents, isPart, from, until },
  branch,
  onDone,
}: {
  unreviewed: NonNullable<Home['unreviewed']>;
  branch: string | undefined;
  onDone: () => void;
}) {
  const [problem, setProblem] = useState('');
  const mark = async () => {
    try {
      await change('/memory/reviewed', { commit: until });
      onDone();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <li>
      <p>
        {count} {isPart ? 'or more commits' : count === 1 ? 'commit' : 'commits'} of agents{' '}
        {count === 1 && !isPart ? 'is' : 'are'} not reviewed <AuthorCounts authors={agents} />
      </p>
      {isPart && !isCopy && (
        <p class="faint">
          Only the newest commits are counted. "Mark as reviewed" marks the older ones also.
        </p>
      )}
      {!isCopy && (
        <p class="row">
          <a href={addressTo('branches', branch ?? until, { base: from.slice(0, 12) })}>
            Review by record
          </a>
          <button type="button" onClick={mark}>
            Mark as reviewed
          </button>
        </p>
      )}
      <p class="problem" role="alert">
        {problem}
      </p>
    </li>
  );
}

function AuthorCounts({ authors }: { authors: Home['since']['agents'] }) {
  return (
    <>
      {authors.map(({ name, count }) => (
        <span key={name} class="tag">
          {name} {count}
        </span>
      ))}
    </>
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

function Recent({
  entries,
  since: { day, count, agents, isPart },
  isPast,
}: {
  entries: readonly Entry[];
  since: Home['since'];
  isPast: boolean;
}) {
  return (
    <section>
      <h2>Recent changes</h2>
      {entries.length === 0 && <p class="faint">There is no change yet.</p>}
      {!isPast && entries.length > 0 && (
        <p class="faint">
          <a href={addressTo('timeline', '', { after: day })}>Since yesterday</a>:{' '}
          {count === 0 ? 'nothing' : <AuthorCounts authors={agents} />}
          {isPart && ' or more'}
        </p>
      )}
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
