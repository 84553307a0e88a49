import type { Difference, RecordData } from './answers.ts';
import { useAnswer } from './data.ts';
import { Differences, Fields, Markdown, Scrolling, Waiting } from './parts.tsx';
import type { Beside, ReviewList } from './review-answers.ts';
import { addressTo } from './route.ts';
import { WordDifference } from './word-difference.tsx';

/** A record of a review, or an entry of a log, that is decided on its own. */
export interface ReviewItem {
  readonly address: string;
  /** The name of the entry; undefined for a record. */
  readonly section: string | undefined;
  readonly difference: Difference;
}

type Waits = ReviewList['reviews'][number];

/** Lists what is decided on its own: of a changed log its entries, otherwise the record. */
export function itemsOf(changes: readonly Difference[]): ReviewItem[] {
  return changes.flatMap((difference): ReviewItem[] => {
    const { path, change, sections = [] } = difference;
    if (change !== 'changed' || sections.length === 0) {
      return [{ address: path, section: undefined, difference }];
    }
    return sections.map((address) => ({
      address,
      section: address.slice(path.length + 1),
      difference,
    }));
  });
}

export function isGone({ difference }: ReviewItem): boolean {
  return difference.change === 'removed';
}

/** A new record as it is, a changed one as a difference of its words, of a log only the entry; and its code. */
export function ReviewItemContent({
  name,
  item,
  review,
}: {
  /** The name of the review. */
  name: string;
  item: ReviewItem;
  review: Waits;
}) {
  const { address: record, section, difference } = item;
  const beside = useAnswer<Beside>(isGone(item) ? undefined : '/memory/reviews/beside', {
    name,
    record,
    base: review.base,
  });
  const isKnown = section === undefined || beside.data !== undefined || beside.error !== undefined;
  if (!isKnown) return <p class="faint loading">Loading …</p>;
  const { before, after, evidence = [], similar = [] } = beside.data ?? {};
  // Without the right to decide, only the present text of an entry is known.
  const isNew = section === undefined ? difference.change === 'added' : before === undefined;
  return (
    <div class="columns">
      <div>
        <p>
          <ChangeName change={changeOf(item, beside.data)} />
        </p>
        {isNew && <Proposed item={item} at={review.tip} />}
        {!isNew && section === undefined && <Differences fields={difference.fields} />}
        {!isNew && section !== undefined && (
          <WordDifference before={before ?? ''} after={after ?? ''} />
        )}
      </div>
      {evidence.length + similar.length > 0 && (
        <div>
          <Similar records={similar} own={difference.path} at={review.tip} />
          <Evidence places={evidence} />
        </div>
      )}
    </div>
  );
}

function ChangeName({ change }: { change: string }) {
  return <span class={change}>{change}</span>;
}

function changeOf({ section, difference }: ReviewItem, beside: Beside | undefined): string {
  if (section === undefined || !beside) return difference.change;
  if (beside.before === undefined) return 'added';
  return beside.after === undefined ? 'removed' : 'changed';
}

/** A proposed record, or entry, as a page shows it. */
function Proposed({ item: { section, difference }, at }: { item: ReviewItem; at: string }) {
  const { path } = difference;
  const answer = useAnswer<RecordData>(`/memory/record/${path}`, { at, section });
  return (
    <Waiting answer={answer}>
      {({ html, fields }) => (
        <>
          {html !== undefined && <Markdown html={html} path={path} />}
          {section === undefined && <Fields fields={fields} />}
        </>
      )}
    </Waiting>
  );
}

/** Records and entries that say nearly the same, of the memory or of the same review. */
function Similar({
  records,
  own,
  at,
}: {
  records: Beside['similar'];
  /** The path of the proposed record, which may have them in the review only. */
  own: string;
  at: string;
}) {
  if (records.length === 0) return null;
  return (
    <aside aria-label="Nearly the same">
      <h3>Says nearly the same</h3>
      <ul class="plain points">
        {records.map(({ record, path, title, answer }) => (
          <li key={record}>
            <a href={addressTo('record', path, path === own ? { at } : {})}>{title}</a>
            <p class="text">{answer}</p>
            <small class="faint">{record}</small>
          </li>
        ))}
      </ul>
    </aside>
  );
}

/** The code that a proposed record rests on, as the work tree has it. */
function Evidence({ places }: { places: Beside['evidence'] }) {
  if (places.length === 0) return null;
  return (
    <aside aria-label="Evidence">
      <h3>Code of the evidence</h3>
      {places.map(({ place, code }) => (
        <div key={place}>
          <code>{place}</code>
          {code === undefined ? (
            <p class="faint">No code of it can be shown.</p>
          ) : (
            <Scrolling label={`Code of ${place}`}>
              <pre class="source">{code}</pre>
            </Scrolling>
          )}
        </div>
      ))}
    </aside>
  );
}
