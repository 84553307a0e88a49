import { useState } from 'preact/hooks';
import { Accept } from './acceptance.tsx';
import type { StateComparison } from './answers.ts';
import { useAnswer } from './data.ts';
import { Differences, Time, Waiting } from './parts.tsx';
import { Restore } from './restore.tsx';
import { ReviewPage } from './review-page.tsx';
import { Reviews } from './reviews.tsx';
import { addressTo, goTo, isCopy, type Route } from './route.ts';
import type { BranchList } from './window-answers.ts';

/** Number of records that are shown at first, and of those that are added. */
const part = 100;
/** The beginning of the names of the branches on which changes wait for a review. */
const ofReviews = 'memory-review/';

/** The branches, or what the memory of one has that another does not. */
export function BranchesPage({ route: { rest, query } }: { route: Route }) {
  if (rest === '') return <AllBranches />;
  const base = query.get('base') ?? undefined;
  if (rest.startsWith(ofReviews) && base === undefined) return <ReviewPage branch={rest} />;
  return <ComparedBranch branch={rest} base={base} isAll={query.has('all')} />;
}

function AllBranches() {
  const answer = useAnswer<BranchList>('/memory/branches', { limit: 200 });
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
function ComparedBranch({
  branch,
  base: asked,
  isAll,
}: {
  branch: string;
  /** The other side; undefined for the current branch. */
  base: string | undefined;
  /** Whether records are listed that only the other side has changed since both diverged. */
  isAll: boolean;
}) {
  const [limit, setLimit] = useState(part);
  const answer = useAnswer<StateComparison>('/memory/compare', {
    from: asked ?? 'HEAD',
    to: branch,
    since: isAll ? undefined : 'fork',
    limit,
  });
  // The list compares all branches, so it has to wait for the answer that a person waits for.
  const isCompared = answer.data !== undefined || answer.error !== undefined;
  const list = useAnswer<BranchList>(isCompared ? '/memory/branches' : undefined, { limit: 200 });
  const names = list.data?.branches.map(({ name }) => name) ?? [];
  const current = list.data?.branches.find((branch) => branch.current)?.name;
  const base = asked ?? current ?? 'HEAD';
  const others = names.filter((name) => name !== branch);
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
            <More shown={changes.length} counts={counts} onMore={() => setLimit(limit + part)} />
          </>
        )}
      </Waiting>
    </>
  );
}

/** The button for more of the records that differ. */
function More({
  shown,
  counts,
  onMore,
}: {
  shown: number;
  counts: StateComparison['counts'];
  onMore: () => void;
}) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (isCopy || shown >= all) return null;
  return (
    <p>
      <button type="button" onClick={onMore}>
        Show {Math.min(part, all - shown)} more of {all} records
      </button>
    </p>
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
