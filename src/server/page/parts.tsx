import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shownTitle } from '../../core/values/shown-title.ts';
import type { CommitData, Entry, FieldDifference, RecordReference } from './answers.ts';
import type { Answered } from './data.ts';
import { targetOf } from './link-target.ts';
import { anchorOf } from './page-place.ts';
import { plainDifference } from './plain-difference.ts';
import { addressOfRecord, addressTo, isCopy } from './route.ts';
import { timeNow } from './server-clock.ts';
import { WordDifference } from './word-difference.tsx';

/** Shows data when it is there; until then, that it is on its way or why it is not. */
export function Waiting<T>({
  answer,
  children,
}: {
  answer: Answered<T>;
  children: (data: T) => ComponentChildren;
}) {
  const { data, error, waiting } = answer;
  if (error) {
    return (
      <p class="problem" role="alert">
        {error.message}
      </p>
    );
  }
  if (data === undefined) return <p class="faint loading">Loading …</p>;
  return <div aria-busy={waiting}>{children(data)}</div>;
}

/** A line that opens; what it folds is in the document only while it is open. */
export function Folded({
  summary,
  children,
}: {
  summary: ComponentChildren;
  children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}

/** A link to a record with its type. */
export function RecordLink({ record }: { record: RecordReference }) {
  return (
    <a class="record" href={addressOfRecord(record.path)} title={record.path}>
      {record.title} <small class="kind">{record.type}</small>
    </a>
  );
}

/** A time as people say it; the exact one appears as a tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={localTime(at)}>
      {isDay.test(at) ? at.slice(0, 10) : age(at)}
    </time>
  );
}

/** A day without a time, which is not some hours ago. */
const isDay = /^\d{4}-\d\d-\d\d(?:T00:00:00(?:\.000)?Z)?$/;
/** A time as records store it. */
const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

function age(at: string): string {
  const seconds = (Date.parse(at) - timeNow()) / 1000;
  if (Number.isNaN(seconds)) return at;
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  return format.format(Math.round(seconds / length), unit);
}

/** Returns a time in the words of the browser's language; a text that is not a time stays as it is. */
export function localTime(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toLocaleString();
}

/** The person or agent that made a commit, with its tool and mode. */
export function Author({ commit }: { commit: CommitData }) {
  const { author, agent, tool, mode } = commit;
  return (
    <span class="author">
      {author}
      {agent !== undefined && <span class="tag">{agent.replace(/\/.*/, '')}</span>}
      {tool !== undefined && <span class="tag">{tool}</span>}
      {mode !== undefined && <span class="tag">mode {mode}</span>}
    </span>
  );
}

/** Returns the subject of a commit without the prefix of all commits of the memory. */
export function subjectOf({ subject }: CommitData): string {
  return shownTitle(subject.replace(/^memory: /, ''));
}

const marks = { added: '+', changed: '~', moved: '→', removed: '−', confirmed: '=' } as const;

/** A commit: its subject, reason, author, and the records that it changed. */
export function CommitEntry({
  entry: { commit, changes, more },
  day,
}: {
  entry: Entry;
  /** The day, if the commit is the first one of it. */
  day?: string;
}) {
  return (
    <li class="entry">
      {day !== undefined && <h2>{day}</h2>}
      <div>
        <strong>{subjectOf(commit)}</strong> <Time at={commit.at} />
      </div>
      {commit.reason !== undefined && <p class="reason">{commit.reason}</p>}
      <div class="faint">
        <Author commit={commit} />{' '}
        {!isCopy && <a href={addressTo('', '', { at: commit.oid.slice(0, 12) })}>state after it</a>}
      </div>
      <ul class="changes">
        {changes.map(({ change, path }) => (
          <li key={path} class={change}>
            <span role="img" aria-label={change}>
              {marks[change]}
            </span>{' '}
            <a href={addressTo('record', path, { show: 'history', to: commit.oid.slice(0, 12) })}>
              {path}
            </a>
          </li>
        ))}
        {more > 0 && <li class="faint">and {more} more</li>}
      </ul>
    </li>
  );
}

/** The differences in the fields of a record. */
export function Differences({ fields }: { fields: readonly FieldDifference[] }) {
  return (
    <dl class="differences">
      {fields
        .map(plainDifference)
        .map(({ field: { field, before, after, added, removed, diff }, notes }) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd>
              {notes.map((note) => (
                <p key={note} class="faint">
                  {note}
                </p>
              ))}
              {diff !== undefined && <Diff text={diff} />}
              {typeof before === 'string' && typeof after === 'string' ? (
                <WordDifference before={before} after={after} />
              ) : (
                <OldAndNew
                  old={[...(removed ?? []), ...(before === undefined ? [] : [before])]}
                  now={[...(added ?? []), ...(after === undefined ? [] : [after])]}
                />
              )}
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** Values that were removed and added. */
function OldAndNew({ old, now }: { old: readonly unknown[]; now: readonly unknown[] }) {
  return (
    <>
      {old.map((value, i) => (
        <del key={`- ${i}`}>{valueText(value)}</del>
      ))}
      {now.map((value, i) => (
        <ins key={`+ ${i}`}>{valueText(value)}</ins>
      ))}
    </>
  );
}

/** A part that scrolls by itself, which the keyboard has to reach. */
export function Scrolling({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus no key scrolls it
    <section class="wide" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A unified difference; its marks stay, so that colours are not needed to read it. */
export function Diff({ text }: { text: string }) {
  // A text in a field has no line end, of which a person need not know.
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .filter((line) => !line.startsWith('\\'));
  return (
    <Scrolling label="Difference">
      <pre class="diff">
        {lines.map((line, i) => (
          <span key={i} class={lineKinds[line.charAt(0)] ?? ''}>{`${line}\n`}</span>
        ))}
      </pre>
    </Scrolling>
  );
}

const lineKinds: { readonly [mark: string]: string } = {
  '+': 'added',
  '-': 'removed',
  '@': 'faint',
};

/** Returns the text of a value. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** The value of a field: text as it is, lists as lists. */
function Value({ value }: { value: unknown }) {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return (
      <ul>
        {value.map((item, i) => (
          <li key={i}>{valueText(item)}</li>
        ))}
      </ul>
    );
  }
  if (typeof value === 'object' && value !== null) return <pre>{valueText(value)}</pre>;
  if (typeof value === 'string' && isTime.test(value)) {
    return (
      <time dateTime={value} title={value}>
        {localTime(value)}
      </time>
    );
  }
  return <span class="text">{valueText(value)}</span>;
}

/** The fields of a record. */
export function Fields({ fields }: { fields: { readonly [name: string]: unknown } }) {
  const all = Object.entries(fields);
  if (all.length === 0) return null;
  return (
    <dl class="fields">
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * The HTML of a markdown text, which the server made without raw HTML and with harmless links.
 *
 * Links to files of the memory become links to their pages; all others open in a new tab.
 */
export function Markdown({ html, path }: { html: string; path: string }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    for (const link of current.querySelectorAll('a')) aimLink(link, path);
    for (const wide of current.querySelectorAll('pre, table')) wide.setAttribute('tabindex', '0');
    for (const heading of current.querySelectorAll(':is(h1, h2, h3, h4, h5, h6)[id]')) {
      addAnchor(heading, path);
    }
  }, [html, path]);
  return <div class="markdown" ref={element} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** Adds to a heading the link to its section. */
function addAnchor(heading: Element, path: string): void {
  const anchor = anchorOf(heading);
  if (anchor === '') return;
  const link = document.createElement('a');
  link.className = 'anchor';
  link.href = addressOfRecord(path, anchor);
  link.textContent = '#';
  link.setAttribute('aria-label', `Link to the section ${shownTitle(heading.textContent)}`);
  heading.append(link);
}

function aimLink(link: HTMLAnchorElement, path: string): void {
  const target = targetOf(link.getAttribute('href') ?? '', path);
  if (target) {
    link.href = addressOfRecord(target.path, target.anchor);
    return;
  }
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
}

/** The command that mends a finding, for a person to copy. */
export function MendCommand({ mend }: { mend: string | undefined }) {
  if (mend === undefined) return null;
  return (
    <p class="faint">
      Mend it with <code>{mend}</code>
    </p>
  );
}
