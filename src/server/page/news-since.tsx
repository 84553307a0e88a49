import type { News } from './answers.ts';
import { useAnswer } from './data.ts';
import { useLastVisit } from './last-visit.ts';
import { CommitEntry, Folded, subjectOf, Time, Waiting } from './parts.tsx';
import { addressTo } from './route.ts';

/** Number of letters of a session that tell it from the others. */
const shownLetters = 8;

/** The changes since the person was last here, by agent and session; of a past state, the last ones. */
export function NewsSince({ at, newest }: { at: string | undefined; newest: string | undefined }) {
  const visit = useLastVisit(newest);
  const seen = at === undefined ? visit.seen : undefined;
  const answer = useAnswer<News>(visit.isKnown ? '/memory/news' : undefined, { at, seen });
  return (
    <section aria-label="Recent changes">
      <h2>Recent changes</h2>
      <Waiting answer={answer}>
        {({ seen, sources, others, isPart }) => (
          <>
            {seen && (
              <p class="faint">
                {sources.length === 0 ? 'Nothing has changed' : 'Changes'} since you were last here,
                at the state of <Time at={seen.at} />
                {isPart && ', and older ones'}
              </p>
            )}
            {!seen && sources.length === 0 && <p class="faint">Nothing has changed yet.</p>}
            <ul class="plain points">
              {sources.map((source) => (
                <li key={`${source.name} ${source.session}`}>
                  <Source source={source} />
                </li>
              ))}
            </ul>
            {others > 0 && <p class="faint">and {others} commits of others</p>}
          </>
        )}
      </Waiting>
      <p>
        <a href={addressTo('timeline')}>All changes</a>
      </p>
    </section>
  );
}

/** The changes of an agent in one session, or of a person, as one line that opens. */
function Source({
  source: { name, session, count, records, entries },
}: {
  source: News['sources'][number];
}) {
  const [newest] = entries;
  return (
    <Folded
      summary={
        <>
          <strong>{name}</strong>
          {session !== undefined && ` in session ${session.slice(0, shownLetters)}`}: {count}{' '}
          {count === 1 ? 'commit' : 'commits'}, {records} {records === 1 ? 'record' : 'records'}
          {newest && (
            <span class="faint brief">
              <Time at={newest.commit.at} /> {subjectOf(newest.commit)}
            </span>
          )}
        </>
      }
    >
      <ol class="plain">
        {entries.map((entry) => (
          <CommitEntry key={entry.commit.oid} entry={entry} />
        ))}
      </ol>
      {count > entries.length && (
        <p class="faint">
          and {count - entries.length} older ones:{' '}
          <a href={addressTo('timeline', '', { agent: name })}>all changes by {name}</a>
        </p>
      )}
    </Folded>
  );
}
