import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { AcceptanceConflicts } from './acceptance.tsx';
import type { StateComparison } from './answers.ts';
import { type Answered, useAnswer } from './data.ts';
import { Time, Waiting } from './parts.tsx';
import type { ReviewList } from './review-answers.ts';
import { Correction } from './review-correction.tsx';
import { isGone, itemsOf, type ReviewItem, ReviewItemContent } from './review-item.tsx';
import { useReviewSteps } from './review-steps.ts';
import { isCopy } from './route.ts';

/** The end of the name of a branch of a review is the name of the review. */
const ofReviews = 'memory-review/';

type Waits = ReviewList['reviews'][number];

/** A review, as a forge shows one: record by record, with the code and the decisions about each. */
export function ReviewPage({ branch }: { branch: string }) {
  const reviews = useAnswer<ReviewList>(isCopy ? undefined : '/memory/reviews');
  const review = reviews.data?.reviews.find((one) => one.branch === branch);
  const answer = useAnswer<StateComparison>(review && '/memory/compare', {
    from: review?.base,
    to: review?.tip,
    since: 'fork',
    limit: 500,
  });
  if (reviews.error || answer.error || !reviews.data) {
    const missing: Answered<unknown> = answer.error ? answer : reviews;
    return <Waiting answer={missing}>{() => null}</Waiting>;
  }
  // The steps stay when nothing waits any more, so that the last one can be undone.
  return (
    <Desk
      branch={branch}
      review={review}
      compared={review && answer.data}
      isWaiting={reviews.waiting}
      onDone={reviews.reload}
    />
  );
}

function Desk({
  branch,
  review,
  compared,
  isWaiting,
  onDone,
}: {
  branch: string;
  review: Waits | undefined;
  compared: StateComparison | undefined;
  /** Whether the review may have another last commit already. */
  isWaiting: boolean;
  onDone: () => void;
}) {
  const name = branch.slice(ofReviews.length);
  const tip = review?.tip ?? '';
  const [edited, setEdited] = useState<string>();
  const [looked, setLooked] = useState(tip);
  const done = useReviewSteps(name, looked, (reviewTip) => {
    setLooked(reviewTip ?? '');
    onDone();
  });
  const { steps, said, isRunning, acceptance } = done;
  // A change by another one is shown only when the person asks for it.
  const isOther = review !== undefined && tip !== looked && !isRunning && !isWaiting;
  // The page keeps what the person reads, and corrects, until the text of the next state is there.
  const shown = useRef<{ review: Waits; compared: StateComparison } | undefined>(undefined);
  if (review && compared?.to.oid === tip && tip === looked) shown.current = { review, compared };
  if (!review && edited === undefined) shown.current = undefined;
  const heading = useRef<HTMLHeadingElement>(null);
  // The button of the last decision is gone.
  useEffect(() => {
    if (steps.length > 0) heading.current?.focus();
  }, [steps.length, looked]);
  const [at, setAt] = useState(0);
  const [comment, setComment] = useState('');
  const items = shown.current ? itemsOf(shown.current.compared.changes) : [];
  const item = items[Math.min(at, items.length - 1)];
  const total = steps.length + items.length;
  const isReady =
    item !== undefined &&
    shown.current?.review.tip === tip &&
    tip === looked &&
    !isRunning &&
    edited === undefined;
  const move = (by: number) => setAt(Math.max(0, Math.min(items.length - 1, at + by)));
  const decide = async (action: 'accept' | 'drop') => {
    if (!isReady) return;
    if (action === 'accept') await done.accept(item.address, comment);
    else await done.drop(item.address, item.difference.from);
    setComment('');
  };
  const begin = () => isReady && setEdited(item.address);
  useKeys({
    j: () => edited === undefined && move(1),
    k: () => edited === undefined && move(-1),
    a: () => void decide('accept'),
    d: () => void decide('drop'),
    e: begin,
    u: () => !isRunning && edited === undefined && void done.undo(),
  });
  return (
    <>
      <Title name={name} items={items} {...shown.current} />
      <p>
        <strong>
          {steps.length} of {total} decided
        </strong>{' '}
        {steps.at(-1)?.undo && (
          <button type="button" disabled={isRunning} onClick={done.undo} aria-keyshortcuts="u">
            Undo the last step
          </button>
        )}
      </p>
      <p role="status">{said.isRefusal ? '' : said.text}</p>
      <p role="alert" class="problem">
        {said.isRefusal ? said.text : ''}
      </p>
      {isOther && (
        <p role="alert" class="past">
          The review has changed meanwhile. Look at it again.{' '}
          <button type="button" disabled={edited !== undefined} onClick={() => setLooked(tip)}>
            Show it as it is now
          </button>
        </p>
      )}
      {!review && <p>It has nothing new.</p>}
      {item && shown.current && (
        <section
          class="change"
          aria-label={item.address}
          key={`${item.address} ${shown.current.review.tip}`}
        >
          <h2 ref={heading} tabIndex={-1}>
            {item.section ?? item.difference.title ?? item.address}{' '}
            <small class="kind">{item.difference.type}</small>
          </h2>
          <p class="faint">
            {item.address} ({Math.min(at, items.length - 1) + 1} of {items.length})
          </p>
          {item.difference.isByBoth && (
            <p class="problem">The memory has changed this record as well since.</p>
          )}
          <ReviewItemContent name={name} item={item} review={shown.current.review} />
          <AcceptanceConflicts
            acceptance={acceptance}
            group={`${name} ${item.address}`}
            other="The review"
          />
          {edited === item.address ? (
            <Correction
              item={item}
              at={shown.current.review.tip}
              onSave={async (content) => {
                if (await done.correct(content)) setEdited(undefined);
              }}
              onCancel={() => setEdited(undefined)}
            />
          ) : (
            <>
              <label>
                Comment (goes into the commit){' '}
                <input
                  value={comment}
                  maxLength={200}
                  onInput={({ currentTarget }) => setComment(currentTarget.value)}
                />
              </label>
              <p class="row">
                <Button
                  name="Accept"
                  shortcut="a"
                  isMain
                  isOff={!isReady}
                  onClick={() => decide('accept')}
                />
                <Button name="Drop" shortcut="d" isOff={!isReady} onClick={() => decide('drop')} />
                {!isGone(item) && (
                  <Button name="Edit" shortcut="e" isOff={!isReady} onClick={begin} />
                )}
                <Button
                  name="Next"
                  shortcut="j"
                  isOff={at >= items.length - 1}
                  onClick={() => move(1)}
                />
                <Button name="Previous" shortcut="k" isOff={at === 0} onClick={() => move(-1)} />
              </p>
            </>
          )}
        </section>
      )}
    </>
  );
}

/** Says what is proposed, by which agent and when. */
function Title({
  name,
  review,
  items,
  compared,
}: {
  name: string;
  review?: Waits;
  items: readonly ReviewItem[];
  compared?: StateComparison;
}) {
  // A new record says what is proposed; one that it supersedes changes as well.
  const first = items.find(({ difference }) => difference.change === 'added') ?? items[0];
  const more = items.length > 1 ? ` and ${items.length - 1} more` : '';
  const subject = first ? (first.section ?? first.difference.title ?? first.address) : name;
  return (
    <>
      <h1>
        {subject}
        {more}
      </h1>
      {review && (
        <p class="faint">
          Proposed by {review.agent ?? 'a person'} <Time at={review.at} />, session{' '}
          {compared?.to.session ?? name}
        </p>
      )}
      {compared?.to.reason !== undefined && <p class="reason">{compared.to.reason}</p>}
    </>
  );
}

function Button({
  name,
  shortcut,
  isMain = false,
  isOff,
  onClick,
}: {
  name: string;
  shortcut: string;
  isMain?: boolean;
  isOff: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      class={isMain ? 'main' : ''}
      disabled={isOff}
      aria-keyshortcuts={shortcut}
      title={`Key ${shortcut}`}
      onClick={onClick}
    >
      {name}
    </button>
  );
}

/** Calls the work of a key, unless the person types a text or holds another key. */
function useKeys(work: { readonly [key: string]: () => unknown }): void {
  // A key that comes right after a record is drawn is about that record.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, repeat } = event;
      const isTyping = target instanceof Element && target.closest('input, textarea, select');
      const act = Object.hasOwn(work, key) ? work[key] : undefined;
      if (!act || ctrlKey || metaKey || altKey || repeat || isTyping) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}
