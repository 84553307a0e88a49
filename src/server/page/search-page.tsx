import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { matchPattern } from '../../core/values/match-pattern.ts';
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
  const [type, setType] = useState(query.get('type') ?? '');
  const field = useRef<HTMLInputElement>(null);
  // Before the window would give the focus to the heading.
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => {
      goTo(addressTo('search', '', { q: words, toolset, type }), true);
    }, pause);
    return () => clearTimeout(timer);
  }, [words, toolset, type]);
  const asked = query.get('q') ?? '';
  const answer = useAnswer<Found>(asked === '' ? undefined : '/memory/search', {
    query: asked,
    at,
    toolset: query.get('toolset') ?? undefined,
    type: query.get('type') ?? undefined,
  });
  const home = useAnswer<Home>('/memory/home', { at });
  const known = home.data?.records ?? [];
  const toolsets = [...new Set(known.map(({ toolset }) => toolset))];
  const types = known.filter((one) => toolset === '' || one.toolset === toolset);
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
          onChange={({ currentTarget }) => {
            setToolset(currentTarget.value);
            setType('');
          }}
        >
          <option value="">all toolsets</option>
          {toolsets.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select
          aria-label="Type"
          value={type}
          onChange={({ currentTarget }) => setType(currentTarget.value)}
        >
          <option value="">all types</option>
          {types.map(({ type }) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </search>
      {asked !== '' && (
        <Waiting answer={answer}>
          {({ hits, total, note, foreign, plans, personal }) => (
            <>
              <p class="faint" role="status">
                {total === 0 ? 'Nothing was found.' : `${total} found`}
              </p>
              {note !== undefined && <p class="faint">{note}</p>}
              <Hits hits={hits} isLinked />
              {foreign && <h2>In memories of other repositories</h2>}
              {foreign && <Hits hits={foreign} />}
              {plans && <h2>In plans</h2>}
              {plans && <Hits hits={plans} />}
              {personal && <h2>In your global banks</h2>}
              {personal && <Hits hits={personal} />}
            </>
          )}
        </Waiting>
      )}
    </>
  );
}

type Hit = Found['hits'][number];

/** @param isLinked whether the records have pages of their own here. */
function Hits({ hits, isLinked = false }: { hits: readonly Hit[]; isLinked?: boolean }) {
  return (
    <ol class="plain hits">
      {hits.map(({ path, title, type, snippet, matches, section, ...hit }) => (
        <li key={`${path} ${section}`}>
          {isLinked ? (
            <a class="record" href={addressOfRecord(path)}>
              <Marked text={title} words={matches} /> <small class="kind">{type}</small>
            </a>
          ) : (
            <div class="record">
              <Marked text={title} words={matches} /> <small class="kind">{path}</small>
            </div>
          )}
          {section !== undefined && <div class="faint">{section}</div>}
          {hit.standing !== undefined && <div class="faint">{hit.standing}</div>}
          <p class="text">
            <Marked text={snippet} words={matches} />
          </p>
          {hit.besides?.map((text) => (
            <p class="text faint" key={text}>
              <Marked text={text} words={matches} />
            </p>
          ))}
          <details class="faint">
            <summary>Why this was found</summary>
            <Reasons hit={{ matches, ...hit }} />
          </details>
        </li>
      ))}
    </ol>
  );
}

/** The way from a word of the query to a word of the record, for people. */
const ways: { readonly [how: string]: string } = {
  form: 'another form',
  correction: 'a likely spelling',
  completion: 'it begins so',
  half: 'a part of it',
  compound: 'in one word',
  abbreviation: 'short or full form',
  synonym: 'a similar meaning',
};

/** Other reasons for the rank of a hit, for people. */
const signalTexts: { readonly [signal: string]: string } = {
  passage: 'the words are in one passage',
  near: 'the words are near each other',
  title: 'they are in the title',
  fit: 'the record is about little else',
  same_title: 'the title is the query',
  meaning: 'its words are used like those of the query',
  learned: 'the memory uses these words in similar texts',
  model: 'the embedding model finds it similar',
};

/** Why a record was found, and with which score. */
function Reasons({ hit }: { hit: Pick<Hit, 'matches' | 'why' | 'signals' | 'score'> }) {
  const { matches, why = [], signals = [], score } = hit;
  const others = signals.flatMap((name) => signalTexts[name] ?? []);
  return (
    <ul>
      {why.map(({ asked, found }) => (
        <li key={asked}>
          <b>{asked}</b>:{' '}
          {found
            .map(({ word, how, fields }) => {
              const way = ways[how] === undefined ? '' : ` (${ways[how]})`;
              return `${word}${way} in ${fields.join(', ')}`;
            })
            .join('; ')}
        </li>
      ))}
      {why.length === 0 && (
        <li>
          {matches.length === 0
            ? 'By its meaning or key'
            : `It has the words ${matches.join(', ')}`}
        </li>
      )}
      {others.length > 0 && <li>Also: {others.join('; ')}</li>}
      <li>Score {score.toFixed(2)} of 1</li>
    </ul>
  );
}

/** A text with the found words marked. */
function Marked({ text, words }: { text: string; words: readonly string[] }) {
  const found = matchPattern(words);
  if (!found) return <>{text}</>;
  const pieces = text.split(found);
  return <>{pieces.map((piece, i) => (i % 2 === 1 ? <mark key={i}>{piece}</mark> : piece))}</>;
}
