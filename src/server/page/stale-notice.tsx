import { render } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Found, StaleEvidence, StalePart } from './answers.ts';
import { change, refusalOf, useAnswer } from './data.ts';
import { findSection } from './page-place.ts';
import { MendCommand, Time } from './parts.tsx';
import { addressTo, isCopy } from './route.ts';
import { ThenNow } from './then-now.tsx';

/** Number of records that are offered as the one that supersedes. */
const maxOffered = 20;
/** The pause in typing after which the records are searched, in milliseconds. */
const pause = 200;

/**
 * The findings about a record: where its code is not as it was, the code then and now, with the ways to
 * end it. The notice about an entry of a log is below its heading.
 *
 * @param html the text of the record, which has the headings.
 */
export function StaleNotices({ path, html }: { path: string; html: string | undefined }) {
  const { data, reload } = useAnswer<StaleEvidence>('/memory/evidence', { path });
  const [said, setSaid] = useState('');
  const parts = data?.stale ?? [];
  const done = (text: string) => {
    setSaid(text);
    reload();
  };
  const placed = parts.filter(({ anchor }) => anchor !== undefined);
  const whole = parts.filter(({ anchor }) => anchor === undefined);
  return (
    <>
      <p role="status">{said}</p>
      {whole.map((part) => (
        <StaleNotice key={part.address} part={part} onDone={done} />
      ))}
      {placed.map((part) => (
        <AtEntry key={part.address} part={part} html={html} onDone={done} />
      ))}
      <ul class="plain points">
        {data?.findings.map(({ message, severity, mend }) => (
          <li key={message}>
            <p class={severity === 'notice' ? 'faint' : 'problem'}>{message}</p>
            <MendCommand mend={mend} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface NoticeProps {
  part: StalePart;
  onDone: (said: string) => void;
}

/** Draws a notice below the heading of its entry, in the text that the server has made. */
function AtEntry({ part, html, onDone }: NoticeProps & { html: string | undefined }) {
  const [place] = useState(() => document.createElement('div'));
  useLayoutEffect(() => {
    findSection(part.anchor ?? '')?.after(place);
    render(<StaleNotice part={part} onDone={onDone} />, place);
  }, [part, html]);
  useEffect(
    () => () => {
      render(null, place);
      place.remove();
    },
    [],
  );
  return null;
}

function StaleNotice({ part, onDone }: NoticeProps) {
  const { address, title, places } = part;
  return (
    <section class="stale" aria-label={`Code has changed: ${title ?? address}`}>
      {places.map(({ message, commit, diff }) => (
        <div key={message}>
          <p class="problem">{message}</p>
          {commit && (
            <p class="faint">
              <strong>{commit.subject}</strong> by {commit.author} <Time at={commit.at} />{' '}
              <code>{commit.oid.slice(0, 12)}</code>
            </p>
          )}
          {diff !== undefined && <ThenNow diff={diff} label={message} />}
        </div>
      ))}
      {!isCopy && <Ends part={part} onDone={onDone} />}
    </section>
  );
}

/** The three ways to end a notice: it is still true, it is edited, or another one supersedes it. */
function Ends({ part: { path, address, title, seen }, onDone }: NoticeProps) {
  const [isAsking, setAsking] = useState(false);
  const [successor, setSuccessor] = useState('');
  const [problem, setProblem] = useState('');
  const [isRunning, setRunning] = useState(false);
  const end = async (said: string, more: { superseded_by?: string } = {}) => {
    setProblem('');
    setRunning(true);
    try {
      const refusal = await refusalOf(async () => {
        await change('/memory/verify', { address, seen, ...more });
        onDone(said);
      });
      setProblem(refusal);
    } finally {
      setRunning(false);
    }
  };
  const asText = title !== undefined;
  return (
    <>
      <p class="row">
        <button type="button" disabled={isRunning} onClick={() => end(`${address} is verified.`)}>
          Still true
        </button>
        <a
          class="button"
          href={addressTo('record', path, {
            show: 'edit',
            ...(asText && { as: 'text', heading: title }),
          })}
        >
          Edit
        </a>
        <button type="button" aria-expanded={isAsking} onClick={() => setAsking(!isAsking)}>
          Superseded by …
        </button>
      </p>
      {isAsking && (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void end(`${address} is superseded by ${successor}.`, { superseded_by: successor });
          }}
        >
          <Successor value={successor} not={address} onValue={setSuccessor} />
          <button type="submit" class="main" disabled={isRunning || successor.trim() === ''}>
            Supersede as a new commit
          </button>
        </form>
      )}
      <p class="problem" role="alert">
        {problem}
      </p>
    </>
  );
}

/** The field for the record that supersedes another one, which offers what a search finds. */
function Successor({
  value,
  not,
  onValue,
}: {
  value: string;
  not: string;
  onValue: (value: string) => void;
}) {
  const [query, setQuery] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQuery(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  const { data } = useAnswer<Found>(query === '' ? undefined : '/memory/search', {
    query,
    limit: maxOffered,
  });
  const offered = new Map(
    data?.hits.map(({ path, section, title }) => {
      const last = section?.split(' > ').at(-1);
      return [last === undefined ? path : `${path}#${last}`, title] as const;
    }),
  );
  offered.delete(not);
  return (
    <label>
      The record or decision that replaces it{' '}
      <input
        list="successors"
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      <datalist id="successors">
        {[...offered].map(([address, title]) => (
          <option key={address} value={address}>
            {title}
          </option>
        ))}
      </datalist>
    </label>
  );
}
