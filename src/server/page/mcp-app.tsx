import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { FailureBoundary } from './failure.tsx';
import { drawHiddenCharacters, HiddenWarning } from './hidden-marks.tsx';
import { dataOf, fieldsOf, Host, type ToolAnswer } from './host.ts';
import { Author, Differences, Scrolling, subjectOf, Time } from './parts.tsx';

/** The records, changes and commits of the answers of tools, as far as the view shows them. */
interface Answers {
  readonly commits?: readonly AnsweredCommit[];
  readonly changes?: readonly AnsweredChange[];
  readonly results?: readonly AnsweredHit[];
  readonly context?: string;
  readonly text?: string;
  readonly path?: string;
  readonly title?: string;
  readonly from?: { readonly commit: string };
  readonly to?: { readonly commit: string };
  readonly total?: number;
  readonly next_skip?: number;
}

interface AnsweredCommit {
  readonly commit: string;
  readonly at: string;
  readonly author: string;
  readonly subject: string;
  readonly reason?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly mode?: string;
  readonly changes?: readonly { readonly change: string; readonly path: string }[];
  readonly more_changes?: number;
}

type AnsweredChange = {
  readonly change: string;
  readonly path: string;
  readonly record: string;
  readonly title?: string;
  readonly fields?: Parameters<typeof Differences>[0]['fields'];
};

interface AnsweredHit {
  readonly path: string;
  readonly title: string;
  readonly record: string;
  readonly snippet?: string;
  readonly section?: string;
}

/** Asks the server by another tool and shows its answer. */
type Ask = (tool: string, args: object) => void;

/** The answer of a tool as a timeline, a difference, a record or a list of records. */
function View({ host, given }: { host: Host; given: ToolAnswer | undefined }) {
  const [pages, setPages] = useState<readonly Answers[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => setPages([]), [given]);
  const ask: Ask = async (tool, args) => {
    setProblem('');
    try {
      setPages([...pages, answersOf(await host.call(tool, args))]);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  if (!given) return <p class="faint loading">Loading …</p>;
  const failed = given.isError ? given.content?.[0]?.text : undefined;
  const shown = pages.at(-1) ?? answersOf(dataOf(given));
  return (
    <main>
      <HiddenWarning />
      {pages.length > 0 && (
        <p>
          <button type="button" onClick={() => setPages(pages.slice(0, -1))}>
            Back
          </button>
        </p>
      )}
      <p class="problem" role="alert">
        {failed ?? problem}
      </p>
      {shown.commits && <Timeline {...shown} commits={shown.commits} ask={ask} />}
      {shown.changes && shown.to && <Comparison {...shown} changes={shown.changes} />}
      {shown.results && <Hits results={shown.results} ask={ask} />}
      {shown.text !== undefined && <RecordText {...shown} text={shown.text} ask={ask} />}
      {shown.context !== undefined && (
        <Scrolling label="Context">
          <pre class="text">{shown.context}</pre>
        </Scrolling>
      )}
    </main>
  );
}

function Timeline({
  commits,
  total = commits.length,
  ask,
}: Answers & { commits: readonly AnsweredCommit[]; ask: Ask }) {
  return (
    <>
      <h1>History</h1>
      <p class="faint">
        {commits.length} of {total} {total === 1 ? 'commit' : 'commits'}
      </p>
      <ol class="plain">
        {commits.map(({ changes = [], more_changes: more = 0, ...commit }) => (
          <li key={commit.commit} class="entry">
            <div>
              <strong>{subjectOf({ oid: commit.commit, ...commit })}</strong>{' '}
              <Time at={commit.at} />
            </div>
            {commit.reason !== undefined && <p class="reason">{commit.reason}</p>}
            <div class="faint">
              <Author commit={{ oid: commit.commit, ...commit }} />
            </div>
            <ul class="changes">
              {changes.map(({ change, path }) => (
                <li key={path} class={change}>
                  {change} {path}{' '}
                  <button
                    type="button"
                    onClick={() =>
                      ask('diff_memory', { from: `${commit.commit}~1`, to: commit.commit, path })
                    }
                  >
                    Show the change <span class="hidden">of {path}</span>
                  </button>
                </li>
              ))}
              {more > 0 && <li class="faint">and {more} more</li>}
            </ul>
          </li>
        ))}
      </ol>
    </>
  );
}

function Comparison({ from, to, changes }: Answers & { changes: readonly AnsweredChange[] }) {
  return (
    <>
      <h1>
        {from?.commit} → {to?.commit}
      </h1>
      {changes.length === 0 && <p class="faint">Both states are equal.</p>}
      {changes.map(({ change, path, record, title, fields = [] }) => (
        <section key={path}>
          <h2>
            {title ?? path} <small class="kind">{record}</small>
          </h2>
          <p class="faint">
            <span class={change}>{change}</span> {path}
          </p>
          <Differences fields={fields} />
        </section>
      ))}
    </>
  );
}

function Hits({ results, ask }: { results: readonly AnsweredHit[]; ask: Ask }) {
  return (
    <>
      <h1>{results.length === 0 ? 'Nothing was found.' : 'Found in the memory'}</h1>
      <ol class="plain hits">
        {results.map(({ path, title, record, snippet, section }, i) => (
          <li key={`${i} ${path}`}>
            <strong>{title}</strong> <small class="kind">{record}</small>
            {section !== undefined && <div class="faint">{section}</div>}
            <p class="text">{snippet}</p>
            <p class="row">
              <button type="button" onClick={() => ask('read_as_of', { revision: 'HEAD', path })}>
                Open <span class="hidden">{title}</span>
              </button>
              <button type="button" onClick={() => ask('record_history', { path })}>
                History <span class="hidden">of {title}</span>
              </button>
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

function RecordText({ title, path, text, ask }: Answers & { text: string; ask: Ask }) {
  return (
    <>
      <h1>{title ?? path}</h1>
      <p class="row">
        <span class="faint path">{path}</span>
        <button type="button" onClick={() => ask('record_history', { path })}>
          History
        </button>
      </p>
      <Scrolling label="Text of the record">
        <pre class="source">{text}</pre>
      </Scrolling>
    </>
  );
}

/** Returns the parts of an answer that have the expected form. */
function answersOf(value: unknown): Answers {
  const { commits, changes, results, context, text, from, to, ...rest } = fieldsOf(value);
  const list = (given: unknown) => (Array.isArray(given) ? given : undefined);
  return {
    ...rest,
    ...(list(commits) && { commits: list(commits) }),
    ...(list(changes) && { changes: list(changes), from, to }),
    ...(list(results) && { results: list(results) }),
    ...(typeof context === 'string' && { context }),
    ...(typeof text === 'string' && { text }),
  } as Answers;
}

const root = document.getElementById('page');
drawHiddenCharacters();
if (root) {
  const show = (given?: ToolAnswer) =>
    render(
      <FailureBoundary of="">
        <View host={host} given={given} />
      </FailureBoundary>,
      root,
    );
  const host = new Host(show);
  show();
  void host.connect();
}
