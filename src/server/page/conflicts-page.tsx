import { useState } from 'preact/hooks';
import type { Conflicts, Resolved } from './answers.ts';
import { change, RefusedRequest, useAnswer } from './data.ts';
import { Scrolling, Waiting } from './parts.tsx';
import { isCopy } from './route.ts';

type Decisions = Readonly<Record<string, 'ours' | 'theirs'>>;

const sides = [
  ['ours', 'This branch'],
  ['theirs', 'The other side'],
] as const;

/** The records that a merge has left in conflict: both versions, and the choice between them. */
export function ConflictsPage() {
  const answer = useAnswer<Conflicts>('/memory/conflicts');
  const [decisions, setDecisions] = useState<Decisions>({});
  const [result, setResult] = useState<Resolved | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const resolve = async () => {
    setProblem('');
    const known = answer.data?.conflicts.map(({ path }) => path) ?? [];
    const won = (side: string) => known.filter((path) => decisions[path] === side);
    try {
      const body = { ours: won('ours'), theirs: won('theirs') };
      setResult(await change<Resolved>('/memory/resolve', body));
      setDecisions({});
      answer.reload();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <>
      <h1>Conflicts</h1>
      <div role="status">{result && <Outcome result={result} />}</div>
      <Waiting answer={answer}>
        {({ conflicts }) =>
          conflicts.length === 0 ? (
            <p class="faint">No record is in conflict.</p>
          ) : (
            <>
              <p>
                A merge of git has stopped at{' '}
                {conflicts.length === 1 ? 'this record' : 'these records'}. Changes that do not
                contradict each other are merged; a side that you choose wins where they do.
              </p>
              {conflicts.map((conflict) => (
                <fieldset key={conflict.path} class="conflict">
                  <legend>{conflict.path}</legend>
                  <div class="columns">
                    {sides.map(([side, label]) => (
                      <section key={side}>
                        <label>
                          <input
                            type="radio"
                            name={conflict.path}
                            checked={decisions[conflict.path] === side}
                            onChange={() => setDecisions({ ...decisions, [conflict.path]: side })}
                          />{' '}
                          {label}
                        </label>
                        <Version text={conflict[side]} label={`${label}: ${conflict.path}`} />
                      </section>
                    ))}
                  </div>
                </fieldset>
              ))}
              <p hidden={isCopy}>
                <button type="button" class="main" onClick={resolve}>
                  Resolve
                </button>
              </p>
            </>
          )
        }
      </Waiting>
      <p class="problem" role="alert">
        {problem}
      </p>
    </>
  );
}

function Version({ text, label }: { text: string | undefined; label: string }) {
  if (text === undefined) return <p class="faint">Deleted, or not a text that can be shown.</p>;
  return (
    <Scrolling label={label}>
      <pre class="source">{text}</pre>
    </Scrolling>
  );
}

function Outcome({
  result: { resolved, conflicts, edited, elsewhere, next },
}: {
  result: Resolved;
}) {
  const list = (paths: readonly string[]) => paths.join(', ');
  return (
    <>
      {resolved.length > 0 && <p>Resolved: {list(resolved)}</p>}
      {conflicts.map(({ path, reasons }) => (
        <p key={path} class="problem">
          {path}: {list(reasons)}. Choose a side.
        </p>
      ))}
      {edited.length > 0 && <p>Edited by hand, and left alone: {list(edited)}</p>}
      {elsewhere.length > 0 && <p>In conflict outside the memory: {list(elsewhere)}</p>}
      {next !== undefined && (
        <p>
          Conclude the merge with <code>{next.replaceAll('"', '')}</code>
        </p>
      )}
    </>
  );
}
