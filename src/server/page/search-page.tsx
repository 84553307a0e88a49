import { useEffect, useRef, useState } from 'preact/hooks';
import type { Found, Home } from './answers.ts';
import { useAnswer } from './data.ts';
import { Waiting } from './parts.tsx';
import { addressOfRecord, addressTo, goTo, type Route } from './route.ts';

/** The pause in typing after which a search begins, in milliseconds. */
const pause = 120;

/** Search as you type: passages with the words that were found, and filters. */
export function SearchPage({ route }: { route: Route }) {
  const { at, query } = route;
  const [words, setWords] = useState(query.get('q') ?? '');
  const [toolset, setToolset] = useState(query.get('toolset') ?? '');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => {
      goTo(addressTo('search', '', { q: words, toolset }), true);
    }, pause);
    return () => clearTimeout(timer);
  }, [words, toolset]);
  const asked = query.get('q') ?? '';
  const answer = useAnswer<Found>(asked === '' ? undefined : '/memory/search', {
    query: asked,
    at,
    toolset: query.get('toolset') ?? undefined,
  });
  const home = useAnswer<Home>('/memory/home', { at });
  const toolsets = [...new Set(home.data?.records.map(({ toolset }) => toolset))];
  return (
    <>
      <h1>Search</h1>
      <search class="row">
        <input
          ref={field}
          type="search"
          aria-label="Words to find"
          placeholder="Words to find"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
        <select
          aria-label="Toolset"
          value={toolset}
          onChange={({ currentTarget }) => setToolset(currentTarget.value)}
        >
          <option value="">everything</option>
          {toolsets.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </search>
      {asked !== '' && (
        <Waiting answer={answer}>
          {({ hits, total, note }) => (
            <>
              <p class="faint" role="status">
                {total === 0 ? 'Nothing was found.' : `${total} found`}
              </p>
              {note !== undefined && <p class="faint">{note}</p>}
              <ol class="plain hits">
                {hits.map(({ path, title, type, snippet, matches, section, score }) => (
                  <li key={`${path} ${section}`}>
                    <a class="record" href={addressOfRecord(path)}>
                      {title} <small class="kind">{type}</small>
                    </a>
                    {section !== undefined && <div class="faint">{section}</div>}
                    <p class="text">
                      <Marked text={snippet} words={matches} />
                    </p>
                    <details class="faint">
                      <summary>Why this was found</summary>
                      {matches.length === 0
                        ? 'By its meaning or key.'
                        : `It has the words ${matches.join(', ')}.`}{' '}
                      Score {score.toFixed(2)} of 1, in {path}.
                    </details>
                  </li>
                ))}
              </ol>
            </>
          )}
        </Waiting>
      )}
    </>
  );
}

/** A text with the found words marked. */
function Marked({ text, words }: { text: string; words: readonly string[] }) {
  const escaped = words
    .filter((word) => word !== '')
    .map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
  if (escaped.length === 0) return <>{text}</>;
  const pieces = text.split(new RegExp(`(${escaped.join('|')})`, 'giu'));
  return <>{pieces.map((piece, i) => (i % 2 === 1 ? <mark key={i}>{piece}</mark> : piece))}</>;
}
