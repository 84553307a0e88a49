import { useState } from 'preact/hooks';
import type { Board, BoardTask } from './board-answers.ts';
import { RecordLink, Time } from './parts.tsx';
import { addressOfRecord } from './route.ts';

/** A step with a task, such as a move to another state. */
export interface TaskStep {
  readonly action: 'move' | 'claim' | 'release' | 'create';
  readonly body: { readonly [argument: string]: unknown };
  /** The result in words. */
  readonly said: string;
}

/** A task of the board with the steps that a person can take; without `onStep`, it is only shown. */
export function TaskCard({
  task,
  objective,
  states,
  onStep,
}: {
  task: BoardTask;
  objective: Board['objectives'][number] | undefined;
  /** The states in the order of the columns. */
  states: readonly string[];
  onStep: ((task: BoardTask, step: TaskStep) => void) | undefined;
}) {
  const at = states.indexOf(task.status);
  const [before, after] = [states[at - 1], states[at + 1]];
  const moveTo = (to: string | undefined) => to !== undefined && onStep?.(task, stepTo(task, to));
  return (
    <li
      class="card"
      data-task={task.id}
      draggable={onStep !== undefined}
      onDragStart={({ dataTransfer }) => dataTransfer?.setData('text/plain', task.id)}
      onKeyDown={(event) => {
        if (!event.shiftKey || !/^Arrow(?:Left|Right)$/.test(event.key)) return;
        event.preventDefault();
        moveTo(event.key === 'ArrowLeft' ? before : after);
      }}
    >
      <RecordLink record={{ path: task.path, title: task.text, type: 'task' }} />
      <div class="faint">
        {objective ? (
          <a href={addressOfRecord(objective.path)}>{objective.name}</a>
        ) : (
          task.objective
        )}
        {objective?.tickets.map((key) => (
          <span key={key} class="tag">
            {key}
          </span>
        ))}
      </div>
      {task.claim && (
        <div class="faint">
          claimed by {task.claim.by}, ends <Time at={task.claim.until} />
        </div>
      )}
      {onStep && (
        <p class="row">
          <Move task={task} to={before} sign="←" onMove={moveTo} />
          <Move task={task} to={after} sign="→" onMove={moveTo} />
          <Claiming task={task} onStep={onStep} />
        </p>
      )}
    </li>
  );
}

/** Returns the move of a task. */
export function stepTo({ id, text, status }: BoardTask, to: string): TaskStep {
  const said = `“${text}” is ${nameOf(to)} now.`;
  return { action: 'move', body: { id, from: status, to }, said };
}

/** The name of a state for people. */
export function nameOf(state: string): string {
  return state.replaceAll('_', ' ');
}

function Move({
  task,
  to,
  sign,
  onMove,
}: {
  task: BoardTask;
  to: string | undefined;
  sign: string;
  onMove: (to: string) => void;
}) {
  if (to === undefined) return null;
  return (
    <button
      type="button"
      aria-label={`Move “${task.text}” to ${nameOf(to)}`}
      title={nameOf(to)}
      onClick={() => onMove(to)}
    >
      {sign}
    </button>
  );
}

/** Claims a task, or ends its claim; that of another session only after a question. */
function Claiming({
  task: { id, text, claim },
  task,
  onStep,
}: {
  task: BoardTask;
  onStep: (task: BoardTask, step: TaskStep) => void;
}) {
  const [isAsked, setAsked] = useState(false);
  if (!claim) {
    const step: TaskStep = { action: 'claim', body: { id }, said: `You have claimed “${text}”.` };
    return (
      <button type="button" aria-label={`Claim “${text}”`} onClick={() => onStep(task, step)}>
        Claim
      </button>
    );
  }
  const release = () => {
    setAsked(false);
    const said = `“${text}” is free again.`;
    onStep(task, { action: 'release', body: { id, force: !claim.mine }, said });
  };
  if (isAsked) {
    return (
      <>
        <button type="button" class="main" onClick={release}>
          End the claim of {claim.by}
        </button>
        <button type="button" onClick={() => setAsked(false)}>
          Cancel
        </button>
      </>
    );
  }
  return (
    <button
      type="button"
      aria-label={`Release “${text}”`}
      onClick={() => (claim.mine ? release() : setAsked(true))}
    >
      Release
    </button>
  );
}
