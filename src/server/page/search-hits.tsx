import { matchPattern } from '../../core/values/match-pattern.ts';
import type { Found } from './answers.ts';
import { addressOfRecord } from './route.ts';

type Hit = Found['hits'][number];

/** Records that were found, each with its answer, where it is, and how far to trust it. */
export function Hits({
  hits,
  isLinked = false,
}: {
  hits: readonly Hit[];
  /** Whether the records have pages of their own here. */
  isLinked?: boolean;
}) {
  return (
    <ol class="plain hits">
      {hits.map((hit) => (
        <li key={`${hit.path} ${hit.section}`}>
          <FoundRecord hit={hit} isLinked={isLinked} />
        </li>
      ))}
    </ol>
  );
}

function FoundRecord({ hit, isLinked }: { hit: Hit; isLinked: boolean }) {
  const { path, title, type, snippet, matches, anchor, later } = hit;
  const { standing, besides = [], also = [], caution = [] } = hit;
  const name = (
    <>
      <Marked text={title} words={matches} /> <small class="kind">{type}</small>
    </>
  );
  return (
    <>
      {isLinked ? (
        <a class="record" href={addressOfRecord(path, anchor, { found: matches.join(' ') })}>
          {name}
        </a>
      ) : (
        <div class="record">{name}</div>
      )}
      <div class="faint path">{[path, ...sectionBeside(hit)].join(' · ')}</div>
      {standing !== undefined && <div class="faint">{standing}</div>}
      {caution.map((text) => (
        <div class="problem" key={text}>
          {text}
        </div>
      ))}
      {later !== undefined && (
        <div class="faint">
          later: <a href={addressOfRecord(later.replace(/#.*/, ''))}>{later}</a>
        </div>
      )}
      <p class="text">
        <Marked text={snippet} words={matches} />
      </p>
      {besides.map((text) => (
        <p class="text faint" key={text}>
          <Marked text={text} words={matches} />
        </p>
      ))}
      {also.length > 0 && <div class="faint">also: {also.join(', ')}</div>}
      <details class="faint">
        <summary>Why this was found</summary>
        <Reasons hit={hit} />
      </details>
    </>
  );
}

/** Stands between the headings of a section. */
const joint = ' > ';

/** The section of a hit, without the entry that its title names; nothing if nothing is left. */
function sectionBeside({ section = '', title }: Hit): string[] {
  const left = section.split(joint).filter((heading) => heading !== title && heading !== '');
  return left.length > 0 ? [left.join(joint)] : [];
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
