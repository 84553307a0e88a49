import { useRef } from 'preact/hooks';
import type { Blame, CommitLog, RecordData, RecordReference, StateComparison } from './answers.ts';
import { Confirmations } from './confirm-records.tsx';
import { useAnswer } from './data.ts';
import { RecordDrafts, WithDrafts } from './draft-offer.tsx';
import { EditForm } from './edit-form.tsx';
import { FieldsPage } from './fields-form.tsx';
import { useFoundWords } from './found-words.ts';
import { useTitle } from './page-title.ts';
import {
  Author,
  Differences,
  Fields,
  Markdown,
  RecordLink,
  Scrolling,
  subjectOf,
  Time,
  Waiting,
} from './parts.tsx';
import { Restore } from './restore.tsx';
import { addressTo, goTo, isCopy, type Route } from './route.ts';
import { StaleNotices } from './stale-notice.tsx';

const views = [
  ['', 'Page'],
  ['source', 'Source'],
  ['history', 'History'],
  ['lines', 'Lines'],
  ['edit', 'Edit'],
] as const;

/** A record: its content, source, history, the author of each line, and its links. */
export function RecordPage({ route }: { route: Route }) {
  const { rest: path, at, query } = route;
  const show = query.get('show') ?? '';
  const answer = useAnswer<RecordData>(`/memory/record/${path}`, { at });
  // A record that is gone has a history.
  const gone = answer.error?.status === 404;
  const title = answer.data?.title ?? path;
  const view = views.find(([name]) => name === show && name !== '')?.[1];
  useTitle(title, view, at && `as of ${at}`);
  return (
    <article aria-busy={answer.waiting}>
      <h1>{title}</h1>
      <p class="faint path">
        {path}
        {answer.data?.last && (
          <>
            {' · '}
            <Time at={answer.data.last.at} /> by <Author commit={answer.data.last} />
          </>
        )}
      </p>
      {at === undefined && !isCopy && !gone && (
        <Confirmations path={path} seen={answer.data?.last?.oid} />
      )}
      <nav class="tabs" aria-label="Views of the record">
        {views
          .filter(([name]) => !isCopy || !(name === 'edit' || (name === 'lines' && at)))
          .map(([name, label]) => (
            <a
              key={name}
              href={addressTo('record', path, { show: name })}
              aria-current={name === show ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
      </nav>
      {show === 'history' ? (
        <RecordHistory route={route} onRestored={answer.reload} />
      ) : show === 'lines' ? (
        <Lines path={path} at={at} />
      ) : (
        <>
          <Waiting answer={answer}>
            {(record) =>
              show === 'source' ? (
                <Source record={record} />
              ) : show === 'edit' ? (
                <Editing route={route} text={record.text} />
              ) : (
                <>
                  {at === undefined && !isCopy && (
                    <RecordDrafts path={path} of={['fields', 'text']} />
                  )}
                  {at === undefined && <StaleNotices path={path} html={record.html} />}
                  <Content record={record} found={query.get('found') ?? ''} />
                </>
              )
            }
          </Waiting>
          {gone && (
            <>
              <p>
                <a href={addressTo('record', path, { show: 'history' })}>Its history</a> may have
                another state.
              </p>
              {!isCopy && <RecordDrafts path={path} of={['fields', 'text']} isGone />}
            </>
          )}
        </>
      )}
    </article>
  );
}

/** Edits the fields of a record, or its whole text. */
function Editing({ route: { rest: path, at, query }, text }: { route: Route; text: string }) {
  if (at !== undefined) {
    return <p>Only the present state can be edited. Restore this one first.</p>;
  }
  const isText = query.get('as') === 'text';
  return (
    <WithDrafts>
      <RecordDrafts path={path} of={isText ? ['fields'] : ['text']} />
      {isText ? (
        <EditForm path={path} text={text} heading={query.get('heading')} />
      ) : (
        <FieldsPage path={path} />
      )}
    </WithDrafts>
  );
}

/** @param found the words by which a search has found the record. */
function Content({ record, found }: { record: RecordData; found: string }) {
  const { path, html, fields, damaged, links, text } = record;
  const element = useRef<HTMLDivElement>(null);
  useFoundWords(element, found, text);
  return (
    <div ref={element}>
      {damaged !== undefined && (
        <>
          <p class="problem" role="alert">
            This file cannot be read as a record: {damaged}
          </p>
          <Scrolling label="Source">
            <pre>{text}</pre>
          </Scrolling>
        </>
      )}
      {html !== undefined && <Markdown html={html} path={path} />}
      <Fields fields={fields} />
      {links.to.length + links.from.length > 0 && (
        <p>
          <a href={addressTo('graph', '', { of: path })}>What it rests on, as a graph</a>
        </p>
      )}
      <Links title="Links to" records={links.to} />
      <Links title="Linked from" records={links.from} />
    </div>
  );
}

function Links({ title, records }: { title: string; records: readonly RecordReference[] }) {
  if (records.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul class="plain">
        {records.map((record) => (
          <li key={record.path}>
            <RecordLink record={record} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Source({ record: { text } }: { record: RecordData }) {
  return (
    <Scrolling label="Source">
      <pre class="source">{text}</pre>
    </Scrolling>
  );
}

/** The commits of a record, the difference between two of its states, and its restoration. */
function RecordHistory({ route, onRestored }: { route: Route; onRestored: () => void }) {
  const { rest: path, at, query } = route;
  const log = useAnswer<CommitLog>('/memory/log', { path, at, limit: 200 });
  const entries = log.data?.entries ?? [];
  const ids = entries.map(({ commit }) => commit.oid.slice(0, 12));
  const to = query.get('to') ?? ids[0];
  // Without a state before it, a commit is compared with the commit before it.
  const from = query.get('from') ?? ids[ids.indexOf(to ?? '') + 1];
  const choose = (chosen: { from?: string; to?: string }) =>
    goTo(addressTo('record', path, { show: 'history', from, to, ...chosen }), true);
  return (
    <Waiting answer={log}>
      {({ entries, total, shallow, searched = total }) => (
        <>
          <table class="history">
            <caption class="faint">
              {total} {total === 1 ? 'state' : 'states'}
              {shallow && '; the clone is shallow, so older commits are missing'}
              {searched < total && `; this copy has the texts of the newest ${searched}`}. Choose
              two to compare.
            </caption>
            <thead>
              <tr>
                <th scope="col">from</th>
                <th scope="col">to</th>
                <th scope="col">state</th>
                <th scope="col">
                  <span class="hidden">actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {entries.map(({ commit, changes }, place) => {
                const isHeld = place < searched;
                const id = commit.oid.slice(0, 12);
                const fields = changes.flatMap(({ fields = [] }) => fields);
                return (
                  <tr key={id}>
                    {Object.entries({ from, to }).map(([end, chosen]) => (
                      <td key={end}>
                        <input
                          type="radio"
                          name={end}
                          aria-label={`Compare ${end} ${subjectOf(commit)}`}
                          checked={chosen === id}
                          disabled={!isHeld}
                          onChange={() => choose({ [end]: id })}
                        />
                      </td>
                    ))}
                    <td>
                      {isHeld ? (
                        <a href={addressTo('record', path, { at: id })}>{subjectOf(commit)}</a>
                      ) : (
                        subjectOf(commit)
                      )}{' '}
                      <Time at={commit.at} />
                      {commit.reason !== undefined && <p class="reason">{commit.reason}</p>}
                      <div class="faint">
                        <Author commit={commit} /> {fields.length > 0 && fields.join(', ')}
                      </div>
                    </td>
                    <td>
                      {changes.every(({ change }) => change !== 'removed') && (
                        <Restore
                          path={path}
                          revision={id}
                          seen={entries[0]?.commit.oid}
                          onDone={() => {
                            log.reload();
                            onRestored();
                          }}
                        />
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          {to !== undefined && <Compared path={path} from={from} to={to} />}
        </>
      )}
    </Waiting>
  );
}

function Compared({ path, from, to }: { path: string; from: string | undefined; to: string }) {
  const answer = useAnswer<StateComparison>('/memory/compare', { path, from, to });
  return (
    <section>
      <h2>
        {from ?? 'before'} → {to}
      </h2>
      <Waiting answer={answer}>
        {({ changes }) =>
          changes.length === 0 ? (
            <p class="faint">Both states are equal.</p>
          ) : (
            changes.map(({ path, change, fields }) => (
              <div key={path}>
                {fields.length === 0 && (
                  <p>
                    {path} was {change}.
                  </p>
                )}
                <Differences fields={fields} />
              </div>
            ))
          )
        }
      </Waiting>
    </section>
  );
}

/** The lines of a record, each with the commit that wrote it. */
function Lines({ path, at }: { path: string; at: string | undefined }) {
  const answer = useAnswer<Blame>(`/memory/blame/${path}`, { at });
  return (
    <Waiting answer={answer}>
      {({ lines, commits }) => (
        <Scrolling label="Lines with their commits">
          <table class="lines">
            <thead>
              <tr>
                <th scope="col">written</th>
                <th scope="col">line</th>
                <th scope="col">text</th>
              </tr>
            </thead>
            <tbody>
              {lines.map(({ text, commit: number, boundary }, i) => {
                const commit = commits[number];
                const isFirst = lines[i - 1]?.commit !== number;
                return (
                  <tr key={i} class={isFirst ? 'first' : ''}>
                    <td class="faint">
                      {isFirst && commit && (
                        <a
                          href={addressTo('record', path, { at: commit.oid.slice(0, 12) })}
                          title={subjectOf(commit)}
                        >
                          {boundary && 'before '}
                          <Time at={commit.at} />,{' '}
                          {commit.agent?.replace(/\/.*/, '') ?? commit.author}
                        </a>
                      )}
                    </td>
                    <td class="faint">{i + 1}</td>
                    <td>
                      <code>{text.replace(/\r?\n$/, '')}</code>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Scrolling>
      )}
    </Waiting>
  );
}
