import { useState } from 'preact/hooks';
import { ConflictChoice, OwnText } from './conflict-choice.tsx';
import { change, useAnswer } from './data.ts';
import { DraftOffer, useDraft, WithDrafts } from './draft-offer.tsx';
import type { Conflicts, Resolved } from './edit-answers.ts';
import { Waiting } from './parts.tsx';
import { RefusedRequest } from './refused-request.ts';
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
      const resolution = await change<Resolved>('/memory/resolve', body);
      setResult(resolution);
      setDecisions({});
      // Without its text, a record has no draft either.
      const done = new Set(resolution.resolved);
      setTexts(Object.fromEntries(Object.entries(texts).filter(([path]) => !done.has(path))));
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
                  <WithDrafts>
                    <DraftedText
                      conflict={conflict}
                      isChosen={decisions[conflict.path] === 'own'}
                      own={texts[conflict.path]}
                      onText={(text) => {
                        setTexts({ ...texts, [conflict.path]: text });
                        setDecisions({ ...decisions, [conflict.path]: 'own' });
                      }}
                    />
                  </WithDrafts>
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

/** A text of the person's own, which a reload of the page does not lose. */
function DraftedText({
  conflict: { path, ours, theirs },
  isChosen,
  own,
  onText,
}: {
  conflict: Conflicts['conflicts'][number];
  isChosen: boolean;
  /** The text of the person; undefined before they have one. */
  own: string | undefined;
  onText: (text: string) => void;
}) {
  const first = ours ?? theirs ?? '';
  const text = own ?? first;
  const began = { ours: ours ?? '', theirs: theirs ?? '' };
  const draft = useDraft('conflict', path, text === first ? undefined : { texts: { text }, began });
  return (
    <OwnText path={path} isChosen={isChosen} text={text} onText={onText}>
      <DraftOffer
        draft={draft}
        of={`your own text of ${path}`}
        hasChanged={({ began: { ours, theirs } }) => ours !== began.ours || theirs !== began.theirs}
        onTake={(earlier) => {
          draft.take(earlier);
          onText(earlier.texts.text ?? first);
        }}
      />
    </OwnText>
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
