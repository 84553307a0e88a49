import { useState } from 'preact/hooks';
import type { Conflicts, Resolved } from './answers.ts';
import { ConflictChoice } from './conflict-choice.tsx';
import { change, RefusedRequest, useAnswer } from './data.ts';
import { Waiting } from './parts.tsx';
import { isCopy } from './route.ts';

type Decisions = Readonly<Record<string, 'ours' | 'theirs' | 'own'>>;

const sides = [
  ['ours', 'This branch'],
  ['theirs', 'The other side'],
] as const;

/** The records that a merge has left in conflict: both versions, and the choice between them. */
export function ConflictsPage() {
  const answer = useAnswer<Conflicts>('/memory/conflicts');
  const [decisions, setDecisions] = useState<Decisions>({});
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [result, setResult] = useState<Resolved | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const resolve = async () => {
    setProblem('');
    const known = answer.data?.conflicts.map(({ path }) => path) ?? [];
    const won = (side: string) => known.filter((path) => decisions[path] === side);
    try {
      const own = won('own').flatMap((path) => {
        const text = texts[path];
        return text === undefined ? [] : [[path, text] as const];
      });
      const body = { ours: won('ours'), theirs: won('theirs'), texts: Object.fromEntries(own) };
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
                <ConflictChoice
                  key={conflict.path}
                  path={conflict.path}
                  sides={sides.map(([name, label]) => ({ name, label, text: conflict[name] }))}
                  chosen={decisions[conflict.path]}
                  onChoose={(side) => setDecisions({ ...decisions, [conflict.path]: side })}
                >
                  <OwnText
                    path={conflict.path}
                    isChosen={decisions[conflict.path] === 'own'}
                    text={texts[conflict.path] ?? conflict.ours ?? conflict.theirs ?? ''}
                    onText={(text) => {
                      setTexts({ ...texts, [conflict.path]: text });
                      setDecisions({ ...decisions, [conflict.path]: 'own' });
                    }}
                  />
                </ConflictChoice>
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

/** A text that is neither of the two versions, such as one made of both. */
function OwnText({
  path,
  isChosen,
  text,
  onText,
}: {
  path: string;
  isChosen: boolean;
  text: string;
  onText: (text: string) => void;
}) {
  return (
    <section hidden={isCopy}>
      <label>
        <input type="radio" name={path} checked={isChosen} onChange={() => onText(text)} /> A text
        of my own
      </label>
      {isChosen && (
        <textarea
          class="source"
          rows={12}
          spellcheck={false}
          aria-label={`My own text: ${path}`}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      )}
    </section>
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
