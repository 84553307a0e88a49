import { useState } from 'preact/hooks';
import type { Accepted, Dropped, ReviewList } from './answers.ts';
import { ConflictChoice } from './conflict-choice.tsx';
import { change, RefusedRequest, useAnswer } from './data.ts';
import { Time } from './parts.tsx';
import { addressTo, isCopy } from './route.ts';

/** Maximum number of records that the list names of one review. */
const maxListed = 8;

type Review = ReviewList['reviews'][number];
type Side = 'ours' | 'theirs';

/** The changes of agents that wait for a review; nothing if there are none. */
export function Reviews({ onDone }: { onDone: () => void }) {
  const answer = useAnswer<ReviewList>(isCopy ? undefined : '/memory/reviews');
  const reviews = answer.data?.reviews ?? [];
  const [said, setSaid] = useState('');
  const done = (text: string) => {
    setSaid(text);
    answer.reload();
    onDone();
  };
  return (
    <>
      <p role="status">{said}</p>
      {reviews.length > 0 && (
        <section aria-labelledby="reviews">
          <h2 id="reviews">Waiting for a review</h2>
          <ul class="plain points">
            {reviews.map((review) => (
              <WaitingChanges
                key={review.name}
                review={review}
                onDone={done}
                onRefused={answer.reload}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function WaitingChanges({
  review,
  onDone,
  onRefused,
}: {
  review: Review;
  onDone: (text: string) => void;
  onRefused: () => void;
}) {
  const { name, branch, tip: seen, base, agent, at, changes } = review;
  const [asked, setAsked] = useState<'accept' | 'drop' | undefined>();
  const [problem, setProblem] = useState('');
  const [found, setFound] = useState<Pick<Accepted, 'conflicts'> & { readonly of: string }>();
  const [decisions, setDecisions] = useState<Readonly<Record<string, Side>>>({});
  // A later change of the agent needs another decision.
  const conflicts = found?.of === seen ? found.conflicts : [];
  const carryOut = async (action: 'accept' | 'drop') => {
    setAsked(undefined);
    setProblem('');
    try {
      if (action === 'accept') {
        const known = conflicts.map(({ path }) => path);
        const won = (side: Side) => known.filter((path) => decisions[path] === side);
        const body = { name, seen, ours: won('ours'), theirs: won('theirs') };
        const answer = await change<Accepted>('/memory/reviews/accept', body);
        if (found?.of !== seen) setDecisions({});
        setFound({ conflicts: answer.conflicts, of: seen });
        if (answer.conflicts.length > 0) return;
        const { changes } = answer;
        onDone(`Accepted ${changes} ${changes === 1 ? 'record' : 'records'} of ${name}.`);
      } else {
        const { tip } = await change<Dropped>('/memory/reviews/drop', { name, seen });
        onDone(`Dropped ${name}. Its last commit was ${tip.slice(0, 12)}.`);
      }
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setProblem(error.message);
      onRefused();
    }
  };
  return (
    <li>
      <a href={addressTo('branches', branch, { base })}>{name}</a> <Time at={at} />
      <div class="faint">
        {agent ?? 'a person'}: {changes.length} {changes.length === 1 ? 'record' : 'records'}
      </div>
      <ul class="changes">
        {changes.slice(0, maxListed).map(({ change, path }) => (
          <li key={path}>
            <span class={change}>{change}</span> {path}
          </li>
        ))}
        {changes.length > maxListed && <li class="faint">and {changes.length - maxListed} more</li>}
      </ul>
      {conflicts.length > 0 && (
        <>
          <p role="alert">
            The memory has other changes of{' '}
            {conflicts.length === 1 ? 'this record' : 'these records'}. Choose a side, and accept
            again. A side wins where the changes contradict each other.
          </p>
          {conflicts.map(({ path, ours, theirs }) => (
            <ConflictChoice<Side>
              key={path}
              path={path}
              group={`${name} ${path}`}
              sides={[
                { name: 'ours', label: 'The memory', text: ours },
                { name: 'theirs', label: 'The review', text: theirs },
              ]}
              chosen={decisions[path]}
              onChoose={(side) => setDecisions({ ...decisions, [path]: side })}
            />
          ))}
        </>
      )}
      <div class="row">
        {asked === undefined ? (
          <>
            <button type="button" onClick={() => setAsked('accept')}>
              Accept all
            </button>
            <button type="button" onClick={() => setAsked('drop')}>
              Drop
            </button>
          </>
        ) : (
          <>
            <button type="button" class="main" onClick={() => carryOut(asked)}>
              {asked === 'accept' ? 'Accept all as a merge commit' : 'Drop all changes'}
            </button>
            <button type="button" onClick={() => setAsked(undefined)}>
              Cancel
            </button>
          </>
        )}
        {problem !== '' && <span role="alert">{problem}</span>}
      </div>
    </li>
  );
}
