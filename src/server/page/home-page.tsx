import type { Home, Point } from './answers.ts';
import { useAnswer } from './data.ts';
import { NeedsPerson } from './needs-person.tsx';
import { NewsSince } from './news-since.tsx';
import { Folded, RecordLink, Time, Waiting } from './parts.tsx';
import { addressOfRecord, addressTo, type Route } from './route.ts';

/** Number of statements of one kind that are shown at once. */
const maxShown = 5;

/** The first page: what needs the person, what has changed, and current work. */
export function HomePage({ route: { at } }: { route: Route }) {
  const answer = useAnswer<Home>('/memory/home', { at });
  return (
    <>
      <h1>What matters now</h1>
      <Waiting answer={answer}>
        {({ now, decisions, records, branch, commit, ...home }) => (
          <div class="columns">
            <div>
              <NeedsPerson
                {...home}
                branch={branch}
                isPast={at !== undefined}
                onDone={answer.reload}
              />
              <Points title="Current work" points={now} nothing="Nothing is in progress." />
            </div>
            <div>
              <NewsSince at={at} newest={commit?.oid} />
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
          </div>
        )}
      </Waiting>
    </>
  );
}

/** Statements of records, of which only the first are shown at once. */
function Points({
  title,
  points,
  nothing,
}: {
  title: string;
  points: readonly Point[];
  nothing: string;
}) {
  const [first, rest] = [points.slice(0, maxShown), points.slice(maxShown)];
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {points.length === 0 && <p class="faint">{nothing}</p>}
      <PointList points={first} />
      {rest.length > 0 && (
        <Folded summary={`${rest.length} more`}>
          <PointList points={rest} />
        </Folded>
      )}
    </section>
  );
}

function PointList({ points }: { points: readonly Point[] }) {
  return (
    <ul class="plain points">
      {points.map((point, i) => (
        <li key={i}>
          <p class="text brief">{point.text}</p>
          <div class="faint">
            {point.anchor === undefined ? (
              <RecordLink record={point} />
            ) : (
              <a class="record" href={addressOfRecord(point.path, point.anchor)}>
                {point.title} <small class="kind">{point.type}</small>
              </a>
            )}{' '}
            {point.at !== undefined && <Time at={point.at} />}
          </div>
        </li>
      ))}
    </ul>
  );
}
