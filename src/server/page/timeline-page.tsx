import { useEffect, useRef, useState } from 'preact/hooks';
import type { Activity, CommitLog, Entry } from './answers.ts';
import { useAnswer } from './data.ts';
import { CommitEntry, Waiting } from './parts.tsx';
import type { Query } from './request-address.ts';
import { addressTo, goTo, isCopy, type Route } from './route.ts';
import type { WindowData } from './window-answers.ts';

/** Number of commits in one request, and in one part of the window. */
const part = 50;
/** The height of a part before it was shown, in pixels. */
const usualHeight = 100 * part;
/** The distance from the window in which parts are shown, in pixels. */
const margin = 1500;
/** Number of days in the chart. */
const charted = 90;

/** The commits of the memory, newest first; only those near the window are in the document. */
export function TimelinePage({ route: { at, query } }: { route: Route }) {
  const filter = Object.fromEntries(
    ['path', 'agent', 'toolset', 'after', 'before'].map((name) => [
      name,
      query.get(name) ?? undefined,
    ]),
  );
  const first = useAnswer<CommitLog>('/memory/log', { ...filter, at, limit: part });
  const activity = useAnswer<Activity>('/memory/activity', { at });
  const shown = useAnswer<WindowData>('/memory/window', { at });
  const isPart = !isCopy && first.data?.searched !== undefined;
  // The chart counts all commits, which takes long in a new clone; the list follows it.
  useEffect(() => {
    if (isPart && activity.data) first.reload();
  }, [isPart, activity.data]);
  const toolsets = [...new Set(shown.data?.kinds.map(({ toolset }) => toolset))];
  const choose = (chosen: { readonly [name: string]: string }) =>
    goTo(addressTo('timeline', '', { ...filter, ...chosen }), true);
  return (
    <>
      <h1>Timeline</h1>
      {activity.data && (
        <Chart activity={activity.data} onDay={(day) => choose({ after: day, before: day })} />
      )}
      <p class="row filters">
        <label>
          agent{' '}
          <select
            value={filter.agent ?? ''}
            onChange={({ currentTarget: { value } }) => choose({ agent: value })}
          >
            <option value="">all</option>
            {activity.data?.agents.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          toolset{' '}
          <select
            value={filter.toolset ?? ''}
            onChange={({ currentTarget: { value } }) => choose({ toolset: value })}
          >
            <option value="">all</option>
            {toolsets.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          record or folder{' '}
          <input
            value={filter.path ?? ''}
            onChange={({ currentTarget: { value } }) => choose({ path: value })}
          />
        </label>
        <label>
          from{' '}
          <input
            type="date"
            value={filter.after ?? ''}
            onChange={({ currentTarget: { value } }) => choose({ after: value })}
          />
        </label>
        <label>
          to{' '}
          <input
            type="date"
            value={filter.before ?? ''}
            onChange={({ currentTarget: { value } }) => choose({ before: value })}
          />
        </label>
      </p>
      <Waiting answer={first}>
        {({ total, entries, searched, shallow }) => (
          <>
            <p class="faint" role="status">
              {total} {total === 1 ? 'commit' : 'commits'}
              {searched !== undefined &&
                (isCopy ? ` among the newest ${searched}` : ' so far; the others are being read')}
              {shallow && '; the clone is shallow, so older ones are missing'}
            </p>
            {Array.from({ length: Math.ceil(total / part) }, (_, i) => (
              <Part
                key={`${i} ${JSON.stringify(filter)}`}
                query={{ ...filter, at, skip: i * part, limit: part }}
                known={i === 0 ? entries : undefined}
                height={usualHeight * Math.min(1, total / part - i)}
              />
            ))}
          </>
        )}
      </Waiting>
    </>
  );
}

/** Some commits; far from the window, an empty part of the same height. */
function Part({
  query,
  known,
  height,
}: {
  query: Query;
  known: readonly Entry[] | undefined;
  height: number;
}) {
  const element = useRef<HTMLDivElement>(null);
  const measured = useRef(height);
  const [near, setNear] = useState(known !== undefined);
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting && entry.boundingClientRect.height > 0) {
          measured.current = entry.boundingClientRect.height;
        }
        setNear(entry.isIntersecting);
      },
      { rootMargin: `${margin}px 0px` },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const answer = useAnswer<CommitLog>(near && !known ? '/memory/log' : undefined, query);
  const entries = known ?? answer.data?.entries;
  const isShown = near && entries !== undefined;
  return (
    <div ref={element} style={isShown ? undefined : { height: `${measured.current}px` }}>
      {isShown && <Days entries={entries} />}
    </div>
  );
}

function Days({ entries }: { entries: readonly Entry[] }) {
  return (
    <ol class="plain">
      {entries.map((entry, i) => {
        const day = dayOf(entry);
        const previous = entries[i - 1];
        const isFirst = !previous || dayOf(previous) !== day;
        return <CommitEntry key={entry.commit.oid} entry={entry} {...(isFirst && { day })} />;
      })}
    </ol>
  );
}

function dayOf({ commit }: Entry): string {
  return new Date(commit.at).toLocaleDateString(undefined, { dateStyle: 'full' });
}

/** The number of commits on each of the last days; a click on a day shows its commits. */
function Chart({
  activity: { days },
  onDay,
}: {
  activity: Activity;
  onDay: (day: string) => void;
}) {
  const last = Date.parse(days.at(-1)?.day ?? '');
  if (Number.isNaN(last)) return null;
  const counts = new Map(days.map(({ day, count }) => [day, count]));
  const shown = Array.from({ length: charted }, (_, i) => {
    const day = new Date(last - (charted - 1 - i) * 86_400_000).toISOString().slice(0, 10);
    return { day, count: counts.get(day) ?? 0 };
  });
  const most = Math.max(...shown.map(({ count }) => count));
  const sum = shown.reduce((all, { count }) => all + count, 0);
  const text = `${sum} ${sum === 1 ? 'commit' : 'commits'} in ${charted} days, at most ${most} on one day`;
  return (
    <figure>
      <svg
        class="chart"
        viewBox={`0 0 ${charted * 4} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        {shown.map(({ day, count }, i) => (
          // The date fields do the same with the keyboard.
          // biome-ignore lint/a11y/noStaticElementInteractions: see above
          <rect
            key={day}
            x={i * 4}
            y={40 - (36 * count) / most}
            width="3"
            height={(36 * count) / most}
            onClick={() => onDay(day)}
          >
            <title>{`${day}: ${count}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption class="faint">
        <time>{shown[0]?.day}</time>
        <span>{text}</span>
        <time>{shown.at(-1)?.day}</time>
      </figcaption>
    </figure>
  );
}
