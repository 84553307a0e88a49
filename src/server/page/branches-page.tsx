import type { BranchList, StateComparison } from './answers.ts';
import { useAnswer } from './data.ts';
import { Differences, Time, Waiting } from './parts.tsx';
import { Restore } from './restore.tsx';
import { Reviews } from './reviews.tsx';
import { addressTo, goTo, isCopy, type Route } from './route.ts';

/** The branches, or what the memory of one has that another does not. */
export function BranchesPage({ route }: { route: Route }) {
  const { rest, query } = route;
  const answer = useAnswer<BranchList>('/memory/branches', { limit: 200 });
  const current = answer.data?.branches.find((branch) => branch.current)?.name;
  if (rest !== '') {
    const others = answer.data?.branches.map(({ name }) => name).filter((name) => name !== rest);
    const base = query.get('base') ?? current ?? 'HEAD';
    return <Review branch={rest} base={base} current={current} others={others ?? []} />;
  }
  return (
    <>
      <h1>Branches</h1>
      <Reviews onDone={answer.reload} />
      <Waiting answer={answer}>
        {({ branches, total }) => (
          <>
            <p class="faint">
              {total} {total === 1 ? 'branch' : 'branches'}. Each is compared with the current one.
            </p>
            <ul class="plain points">
              {branches.map(({ name, current, commit, ahead, behind, unrelated, changes }) => (
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
}: {
  branch: string;
  base: string;
  current: string | undefined;
  others: readonly string[];
}) {
  const answer = useAnswer<StateComparison>('/memory/compare', {
    from: base,
    to: branch,
    limit: 500,
  });
  const action =
    base === current || branch.startsWith('memory-review/')
      ? { label: 'Accept', revision: branch }
      : branch === current
        ? { label: 'Take back', revision: base }
        : undefined;
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
      <Waiting answer={answer}>
        {({ changes, counts }) => (
          <>
            <p class="faint">
              {Object.entries(counts)
                .map(([kind, count]) => `${count} ${kind}`)
                .join(', ')}
            </p>
            {changes.map(({ path, change, title, type, fields }) => (
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
                <Differences fields={fields} />
                {action && <Restore path={path} {...action} onDone={answer.reload} />}
              </section>
            ))}
          </>
        )}
      </Waiting>
    </>
  );
}
