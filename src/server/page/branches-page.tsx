import { useState } from 'preact/hooks';
import { Accept } from './acceptance.tsx';
import type { BranchList, StateComparison } from './answers.ts';
import { useAnswer } from './data.ts';
import { Differences, Time, Waiting } from './parts.tsx';
import { Restore } from './restore.tsx';
import { ReviewPage } from './review-page.tsx';
import { Reviews } from './reviews.tsx';
import { addressTo, goTo, isCopy, type Route } from './route.ts';

/** The beginning of the names of the branches on which changes wait for a review. */
const ofReviews = 'memory-review/';

/** The branches, or what the memory of one has that another does not. */
export function BranchesPage({ route }: { route: Route }) {
  const { rest, query } = route;
  const answer = useAnswer<BranchList>('/memory/branches', { limit: 200 });
  const current = answer.data?.branches.find((branch) => branch.current)?.name;
  if (rest !== '') {
    const others = answer.data?.branches.map(({ name }) => name).filter((name) => name !== rest);
    const base = query.get('base') ?? current ?? 'HEAD';
    const isAll = query.has('all');
    if (rest.startsWith(ofReviews) && !query.has('base')) {
      return <ReviewPage branch={rest} />;
    }
    return (
      <Review branch={rest} base={base} current={current} others={others ?? []} isAll={isAll} />
    );
  }
  return (
    <>
      <h1>Branches</h1>
      <Reviews onDone={answer.reload} />
      <Waiting answer={answer}>
        {({ branches }) => (
          <>
            <h2>All branches</h2>
            <p class="faint">As they are now. Each is compared with the current one.</p>
            <ul class="plain points">
              {branches
                .filter(isNoReview)
                .map(({ name, current, commit, ahead, behind, unrelated, changes }) => (
                  <li key={name}>
                    {current ? (
                      <strong>{name} (current)</strong>
                    ) : (
                      <a href={addressTo('branches', name)}>{name}</a>
                    )}{' '}
                    <Time at={commit.at} />
                    <div class="faint">
                      {current
                        ? commit.subject
                        : `${changes} ${changes === 1 ? 'record differs' : 'records differ'}, ${ahead} commits ahead, ${behind} behind${unrelated ? ', no common commit' : ''}`}{' '}
                      {!isCopy && <a href={addressTo('', '', { at: name })}>open its memory</a>}
                    </div>
                  </li>
                ))}
            </ul>
          </>
        )}
      </Waiting>
    </>
  );
}

/** Whether a branch is other than those of reviews, which the page lists before it. */
function isNoReview({ name }: { name: string }): boolean {
  return !name.startsWith(ofReviews);
}

/**
 * The records that differ between two branches.
 *
 * The current branch can accept records of another one, and can take its own back to the state of
 * another one.
 */
function Review({
  branch,
  base,
  current,
  others,
  isAll,
}: {
  branch: string;
  base: string;
  current: string | undefined;
  others: readonly string[];
  /** Whether records are listed that only the other side has changed since both diverged. */
  isAll: boolean;
}) {
  const answer = useAnswer<StateComparison>('/memory/compare', {
    from: base,
    to: branch,
    since: isAll ? undefined : 'fork',
    limit: 500,
  });
  const [said, setSaid] = useState('');
  const review = branch.startsWith(ofReviews) ? branch.slice(ofReviews.length) : undefined;
  const isAccepted = !isCopy && (base === current || review !== undefined);
  return (
    <>
      <h1>What {branch} teaches</h1>
      <p class="row" hidden={isCopy}>
        <label>
          compared with{' '}
          <select
            value={base}
            onChange={({ currentTarget: { value } }) =>
              goTo(addressTo('branches', branch, { base: value }))
            }
          >
            {[...new Set([base, ...others])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <a href={addressTo('branches', base, { base: branch })}>Swap the two</a>
      </p>
      <p role="status">{said}</p>
      <Waiting answer={answer}>
        {({ from, to, changes, counts, others = 0 }) => (
          <>
            <p class="faint" role="status">
              {Object.entries(counts)
                .flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind}`] : []))
                .join(', ') || 'It has nothing new.'}
            </p>
            {others > 0 && !isCopy && (
              <p class="faint">
                {others === 1 ? '1 other record differs' : `${others} other records differ`} because{' '}
                {base} has changed since.{' '}
                <a href={addressTo('branches', branch, { base, all: '1' })}>Show all differences</a>
              </p>
            )}
            {changes.map(({ path, change, title, type, fields, sections = [], isByBoth }) => (
              <section key={path} class="change">
                <h2>
                  {title ?? path} <small class="kind">{type}</small>
                </h2>
                <p class="faint">
                  <span class={change}>{change}</span>{' '}
                  {isCopy ? (
                    path
                  ) : (
                    <a
                      href={addressTo('record', path, {
                        at: change === 'removed' ? base : branch,
                      })}
                    >
                      {path}
                    </a>
                  )}
                </p>
                {isByBoth && <p class="problem">{base} has changed this record as well since.</p>}
                <Differences fields={fields} />
                {isAccepted && (
                  <AcceptRecord
                    path={path}
                    sections={sections}
                    source={{ review, branch, seen: to.oid }}
                    onDone={(text) => {
                      setSaid(text === 'done' ? '' : `${path}: ${text}`);
                      answer.reload();
                    }}
                  />
                )}
                {!isAccepted && branch === current && (
                  <Restore
                    path={path}
                    revision={from?.oid ?? base}
                    seen={to.oid}
                    label="Take back"
                    removes
                    onDone={answer.reload}
                  />
                )}
              </section>
            ))}
          </>
        )}
      </Waiting>
    </>
  );
}

/** The buttons that accept a record, or one of its changed sections. */
function AcceptRecord({
  path,
  sections,
  source,
  onDone,
}: {
  path: string;
  sections: readonly string[];
  source: { review: string | undefined; branch: string; seen: string };
  onDone: (said: string) => void;
}) {
  return (
    <>
      <Accept address={path} {...source} onDone={onDone} />
      {sections.length > 1 && (
        <ul class="plain">
          {sections.map((section) => (
            <li key={section}>
              {section.slice(path.length + 1)}{' '}
              <Accept
                address={section}
                {...source}
                label={`Accept ${section.slice(path.length + 1)}`}
                onDone={onDone}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
