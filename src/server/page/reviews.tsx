import { useState } from 'preact/hooks';
import { AcceptanceConflicts, useAcceptance } from './acceptance.tsx';
import { changedMeanwhile, useConfirmation } from './confirmation.tsx';
import { change, useAnswer } from './data.ts';
import { Time } from './parts.tsx';
import { RefusedRequest } from './refused-request.ts';
import type { Dropped, ReviewList } from './review-answers.ts';
import { addressTo, isCopy } from './route.ts';

/** Maximum number of records that the list names of one review. */
const maxListed = 8;

type Review = ReviewList['reviews'][number];

/** The changes of agents that wait for a review; nothing if there are none. */
export function Reviews({ onDone }: { onDone: () => void }) {
  const answer = useAnswer<ReviewList>(isCopy ? undefined : '/memory/reviews');
  const reviews = answer.data?.reviews ?? [];
  const [said, setSaid] = useState('');
  const [refusal, setRefusal] = useState('');
  const done = (text: string) => {
    setRefusal('');
    setSaid(text);
    answer.reload();
    onDone();
  };
  // The review can be gone by then, and its place in the list with it.
  const refused = (name: string, text: string) => {
    setSaid('');
    setRefusal(`${name}: ${text}`);
    answer.reload();
  };
  return (
    <>
      <p role="status">{said}</p>
      {refusal !== '' && (
        <p role="alert" class="problem">
          {refusal}
        </p>
      )}
      {reviews.length > 0 && (
        <section aria-labelledby="reviews">
          <h2 id="reviews">Waiting for a review</h2>
          <ul class="plain points">
            {reviews.map((review) => (
              <WaitingChanges key={review.name} review={review} onDone={done} onRefused={refused} />
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
  onRefused: (name: string, text: string) => void;
}) {
  const { name, branch, tip: seen, agent, at, changes } = review;
  const acceptance = useAcceptance(seen);
  const { action, isLost, ask, end } = useConfirmation<'accept' | 'drop'>(seen);
  const carryOut = async (action: 'accept' | 'drop') => {
    end();
    try {
      if (action === 'accept') {
        const changes = await acceptance.accept('/memory/reviews/accept', { name });
        if (changes === undefined) return;
        onDone(`Accepted ${changes} ${changes === 1 ? 'record' : 'records'} of ${name}.`);
      } else {
        const { tip } = await change<Dropped>('/memory/reviews/drop', { name, seen });
        onDone(`Dropped ${name}. Its last commit was ${tip.slice(0, 12)}.`);
      }
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      onRefused(name, error.message);
    }
  };
  return (
    <li>
      <a href={addressTo('branches', branch)}>{name}</a> <Time at={at} />
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
      <AcceptanceConflicts acceptance={acceptance} group={name} other="The review" />
      <div class="row">
        {action === undefined ? (
          <>
            <button type="button" onClick={() => ask('accept')}>
              Accept all
            </button>
            <button type="button" onClick={() => ask('drop')}>
              Drop
            </button>
          </>
        ) : (
          <>
            <button type="button" class="main" onClick={() => carryOut(action)}>
              {action === 'accept' ? 'Accept all as a merge commit' : 'Drop all changes'}
            </button>
            <button type="button" onClick={end}>
              Cancel
            </button>
          </>
        )}
        {isLost && <span role="status">{changedMeanwhile}</span>}
      </div>
    </li>
  );
}
