import type { Found } from './answers.ts';
import { useAnswer, useWhole } from './data.ts';
import { Waiting } from './parts.tsx';
import { addressTo, goTo, type Route } from './route.ts';
import { Hits } from './search-hits.tsx';
import { timeNow } from './server-clock.ts';
import type { WindowData } from './window-answers.ts';

const dayMs = 24 * 60 * 60 * 1000;

const ages = [
  ['1', 'in the last day'],
  ['7', 'in the last week'],
  ['31', 'in the last month'],
  ['366', 'in the last year'],
] as const;

/** The filters of a search, as the address has them. */
const filters = ['toolset', 'type', 'days', 'agent', 'maker', 'exact'] as const;
type Filter = { readonly [name in (typeof filters)[number]]: string | undefined };

/** The records that the words in the field of the window find, with filters. */
export function SearchPage({ route: { at, query } }: { route: Route }) {
  const asked = query.get('q') ?? '';
  const given = Object.fromEntries(
    filters.map((name) => [name, query.get(name) ?? undefined]),
  ) as Filter;
  const { days, ...filter } = given;
  const after =
    days && new Date(timeNow() - Number(days) * dayMs).toISOString().slice(0, 'yyyy-mm-dd'.length);
  const answer = useAnswer<Found>(asked === '' ? undefined : '/memory/search', {
    query: asked,
    at,
    ...filter,
    after,
  });
  useWhole(answer);
  const choose = (chosen: Partial<Filter>) =>
    goTo(addressTo('search', '', { q: asked, ...given, ...chosen }), true);
  return (
    <>
      <h1>Search</h1>
      <Filters given={given} at={at} makers={answer.data?.makers ?? []} onChoose={choose} />
      {asked === '' ? (
        <p class="faint">
          Type words into the field at the top; the key <kbd>/</kbd> on any page leads there.
        </p>
      ) : (
        <Waiting answer={answer}>
          {(found) => (
            <>
              <Summary asked={asked} found={found} given={given} at={at} onChoose={choose} />
              <Results found={found} />
            </>
          )}
        </Waiting>
      )}
    </>
  );
}

function Filters({
  given: { toolset = '', type = '', days = '', agent = '', maker = '', exact },
  at,
  makers,
  onChoose,
}: {
  given: Filter;
  at: string | undefined;
  makers: readonly string[];
  onChoose: (chosen: Partial<Filter>) => void;
}) {
  const { data } = useAnswer<WindowData>('/memory/window', { at });
  const kinds = data?.kinds ?? [];
  const toolsets = [...new Set(kinds.map(({ toolset }) => toolset))];
  const names = [...new Set([...makers, ...(agent === '' ? [] : [agent])])];
  return (
    <p class="row filters">
      <label>
        kind{' '}
        <select
          value={`${toolset} ${type}`.trim()}
          onChange={({ currentTarget: { value } }) => {
            const [toolset, type] = value.split(' ');
            onChoose({ toolset, type });
          }}
        >
          <option value="">all</option>
          {toolsets.map((name) => (
            <optgroup key={name} label={name}>
              <option value={name}>all of {name}</option>
              {kinds
                .filter(({ toolset }) => toolset === name)
                .map(({ type }) => (
                  <option key={type} value={`${name} ${type}`}>
                    {type}
                  </option>
                ))}
            </optgroup>
          ))}
        </select>
      </label>
      <label>
        changed{' '}
        <select value={days} onChange={({ currentTarget: { value } }) => onChoose({ days: value })}>
          <option value="">at any time</option>
          {ages.map(([days, text]) => (
            <option key={days} value={days}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        by{' '}
        <select
          value={maker === '' ? agent && `by ${agent}` : maker}
          onChange={({ currentTarget: { value } }) =>
            onChoose(
              value.startsWith('by ')
                ? { agent: value.slice('by '.length), maker: '' }
                : { agent: '', maker: value },
            )
          }
        >
          <option value="">anyone</option>
          <option value="person">any person</option>
          <option value="agent">any agent</option>
          {names.map((name) => (
            <option key={name} value={`by ${name}`}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={exact !== undefined}
          onChange={({ currentTarget: { checked } }) => onChoose({ exact: checked ? 'true' : '' })}
        />{' '}
        exactly as written
      </label>
    </p>
  );
}

/** The number of hits; without one, the records that were searched, and other ways to search. */
function Summary({
  asked,
  found: { total, unread, isPart, judged, searched = 0 },
  given,
  at,
  onChoose,
}: {
  asked: string;
  found: Found;
  given: Filter;
  at: string | undefined;
  onChoose: (chosen: Partial<Filter>) => void;
}) {
  const isNarrow = filters.some((name) => name !== 'exact' && given[name] !== undefined);
  const kind = given.type ?? given.toolset;
  const records = `${searched} ${kind === undefined ? '' : `${kind} `}${searched === 1 ? 'record' : 'records'}`;
  const state = at === undefined ? '' : ` as of ${at}`;
  const rest = unread === undefined ? '' : `; ${unread} records are still being read`;
  if (total > 0 || isPart) {
    return (
      <p class="faint" role="status">
        {total} found{isPart && ' so far'}
        {judged !== undefined && ` among the best ${judged}`}
        {rest}
      </p>
    );
  }
  return (
    <>
      <p role="status">
        Nothing was found for “{asked}” in {records}
        {state}
        {given.exact === undefined ? '' : ', as a literal text'}
        {isNarrow && ', with these filters'}.
      </p>
      <p class="row">
        {given.exact === undefined ? (
          <button type="button" onClick={() => onChoose({ exact: 'true' })}>
            Search for exactly this text
          </button>
        ) : (
          <button type="button" onClick={() => onChoose({ exact: '' })}>
            Search for the words
          </button>
        )}
        {isNarrow && <a href={addressTo('search', '', { q: asked })}>Search without filters</a>}
        {at !== undefined && (
          <a href={addressTo('search', '', { q: asked, at: undefined })}>Search the present</a>
        )}
      </p>
    </>
  );
}

function Results({ found: { hits, note, foreign, plans, personal } }: { found: Found }) {
  return (
    <>
      {note !== undefined && <p class="faint">{note}</p>}
      <Hits hits={hits} isLinked />
      {foreign && <h2>In memories of other repositories</h2>}
      {foreign && <Hits hits={foreign} />}
      {plans && <h2>In plans</h2>}
      {plans && <Hits hits={plans} />}
      {personal && <h2>In your global banks</h2>}
      {personal && <Hits hits={personal} />}
    </>
  );
}
