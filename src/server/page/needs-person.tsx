import { useState } from 'preact/hooks';
import type { Concern, Concerns, Home } from './answers.ts';
import { change, refusalOf, useAnswer } from './data.ts';
import { Folded, MendCommand, Time } from './parts.tsx';
import { addressOfRecord, addressTo, isCopy } from './route.ts';

/** Number of lines of one kind that are shown at once. */
const maxShown = 4;

/** The work for a person, each as one line that opens: conflicts, reviews, stale records, damaged files. */
export function NeedsPerson({
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
  const checked = useAnswer<Concerns>(isPast ? undefined : '/memory/concerns');
  const concerns = checked.data?.concerns ?? [];
  const counts = [problems, conflicts, waiting, concerns].map(({ length }) => length);
  if (counts.every((one) => one === 0) && !unreviewed) return null;
  const [first, rest] = [concerns.slice(0, maxShown), concerns.slice(maxShown)];
  return (
    <section aria-label="Needs a person">
      <h2>Needs a person</h2>
      <ul class="plain points">
        {conflicts.length > 0 && (
          <li>
            <p class="problem brief">
              A merge has left records in conflict: {conflicts.slice(0, maxShown).join(', ')}
              {conflicts.length > maxShown && ` and ${conflicts.length - maxShown} more`}
            </p>
            <a href={addressTo('conflicts')}>Resolve the conflicts</a>
          </li>
        )}
        {waiting.length > 0 && <WaitingReviews waiting={waiting} />}
        {unreviewed && <Unreviewed unreviewed={unreviewed} branch={branch} onDone={onDone} />}
        {problems.length > 0 && (
          <li>
            <ConcernLine
              concern={{
                about: 'It cannot be used as it is.',
                count: problems.length,
                records: problems,
              }}
            />
          </li>
        )}
        <ConcernList concerns={first} />
        {rest.length > 0 && (
          <li>
            <Folded summary={`${rest.length} other kinds of findings`}>
              <ul class="plain points">
                <ConcernList concerns={rest} />
              </ul>
            </Folded>
          </li>
        )}
      </ul>
    </section>
  );
}

function ConcernList({ concerns }: { concerns: readonly Concern[] }) {
  return (
    <>
      {concerns.map((concern) => (
        <li key={concern.commit?.oid ?? concern.about}>
          <ConcernLine concern={concern} />
        </li>
      ))}
    </>
  );
}

/** Records with one cause, such as a commit that has changed their code. */
function ConcernLine({
  concern: { about, commit, count, records },
}: {
  concern: Pick<Concern, 'about' | 'commit' | 'count' | 'records'>;
}) {
  return (
    <Folded
      summary={
        <>
          <span class="problem">
            {count} {count === 1 ? 'record' : 'records'}
          </span>
          {commit ? (
            <>
              {' '}
              by code that <strong>{commit.subject}</strong> has changed{' '}
              <span class="faint">
                {commit.oid.slice(0, 12)}, {commit.author}, <Time at={commit.at} />
              </span>
            </>
          ) : (
            `: ${about}`
          )}
        </>
      }
    >
      <ul class="plain">
        {records.map(({ path, message, mend }) => (
          <li key={`${path} ${message}`}>
            <a href={addressOfRecord(path)}>{path}</a>
            <p>{message}</p>
            <MendCommand mend={mend} />
          </li>
        ))}
        {count > records.length && <li class="faint">and {count - records.length} more</li>}
      </ul>
    </Folded>
  );
}

/** The changes of agents that wait, with a link to each of the first reviews. */
function WaitingReviews({ waiting }: Pick<Home, 'waiting'>) {
  return (
    <li>
      <p>
        The changes of {waiting.length === 1 ? 'an agent wait' : `${waiting.length} agents wait`}{' '}
        for a review
      </p>
      <p class="row">
        {waiting.slice(0, maxShown).map(({ branch, agent = 'a person', count }) => (
          <a key={branch} href={addressTo('branches', branch)}>
            {agent}: {count} {count === 1 ? 'record' : 'records'}
          </a>
        ))}
        <a href={addressTo('branches')}>Review them</a>
      </p>
    </li>
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
    const refusal = await refusalOf(async () => {
      await change('/memory/reviewed', { commit: until });
      onDone();
    });
    setProblem(refusal);
  };
  return (
    <li>
      <p>
        {count} {isPart ? 'or more commits' : count === 1 ? 'commit' : 'commits'} of agents{' '}
        {count === 1 && !isPart ? 'is' : 'are'} not reviewed{' '}
        {agents.map(({ name, count }) => (
          <span key={name} class="tag">
            {name} {count}
          </span>
        ))}
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
