import { useEffect, useRef, useState } from 'preact/hooks';
import type { Board, BoardTask } from './board-answers.ts';
import { change, refusalOf, useAnswer } from './data.ts';
import { NewTask, ObjectiveOptions } from './new-task.tsx';
import { Waiting } from './parts.tsx';
import { addressTo, goTo, isCopy, type Route } from './route.ts';
import { nameOf, stepTo, TaskCard, type TaskStep } from './task-card.tsx';

/** The columns of the board; a status that is not listed gets a column after them. */
const usual = ['pending', 'in_progress', 'completed'];

/** Maximum number of cards in one column. */
const maxCards = 200;

/** The tasks as a board, with a column for each state. */
export function TasksPage({ route: { at, query } }: { route: Route }) {
  const answer = useAnswer<Board>('/memory/board', { at });
  const [text, setText] = useState('');
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const isRunning = useRef(false);
  /** The task that was moved last: its card is another element in the other column. */
  const moved = useRef<string | undefined>(undefined);
  useEffect(() => {
    const card = moved.current && document.querySelector(`[data-task="${moved.current}"] a`);
    if (!card || !(card instanceof HTMLElement)) return;
    if (document.activeElement === document.body) card.focus();
    moved.current = undefined;
  }, [answer.data]);
  const objective = query.get('objective') ?? '';
  const isHidden = query.get('completed') === 'hide';
  const choose = (chosen: { readonly [name: string]: string }) => {
    const filter = { objective, completed: isHidden ? 'hide' : '', ...chosen };
    goTo(addressTo('tasks', '', filter), true);
  };
  /** @returns whether the step was taken. */
  const take = async ({ action, body, said }: TaskStep): Promise<boolean> => {
    if (isRunning.current) return false;
    isRunning.current = true;
    setSaid('');
    setProblem('');
    let isTaken = false;
    try {
      const refusal = await refusalOf(async () => {
        await change(`/memory/tasks/${action}`, body);
        isTaken = true;
        setSaid(said);
      });
      setProblem(refusal);
    } finally {
      isRunning.current = false;
    }
    answer.reload();
    return isTaken;
  };
  const canChange = at === undefined && !isCopy;
  const step = async ({ id }: BoardTask, one: TaskStep) => {
    if (await take(one)) moved.current = id;
  };
  const add = (objective: string, text: string) =>
    take({ action: 'create', body: { objective, text }, said: `“${text}” is a task now.` });
  return (
    <>
      <h1>Tasks</h1>
      <Waiting answer={answer}>
        {({ objectives, tasks, total }) => (
          <>
            <p class="row filters">
              <label>
                Objective{' '}
                <select
                  value={objective}
                  onChange={({ currentTarget: { value } }) => choose({ objective: value })}
                >
                  <option value="">all</option>
                  <ObjectiveOptions objectives={objectives} />
                </select>
              </label>
              <label>
                Text or ticket{' '}
                <input
                  type="search"
                  value={text}
                  onInput={({ currentTarget }) => setText(currentTarget.value)}
                />
              </label>
              <label>
                <input
                  type="checkbox"
                  checked={isHidden}
                  onChange={({ currentTarget: { checked } }) =>
                    choose({ completed: checked ? 'hide' : '' })
                  }
                />{' '}
                Hide completed
              </label>
            </p>
            {total > tasks.length && (
              <p class="faint">
                The first {tasks.length} of {total} tasks.
              </p>
            )}
            {canChange && <NewTask objectives={objectives} chosen={objective} onAdd={add} />}
            {canChange && (
              <p class="faint">
                Drag a task, or press Shift with an arrow key on it, to move it. Each move is a
                commit.
              </p>
            )}
            <p role="status">{said}</p>
            <p class="problem" role="alert">
              {problem}
            </p>
            <Columns
              tasks={tasks.filter((one) => isShown(one, objectives, { objective, text, isHidden }))}
              objectives={objectives}
              isHidden={isHidden}
              onStep={canChange ? step : undefined}
            />
          </>
        )}
      </Waiting>
    </>
  );
}

function isShown(
  { text, status, objective, claim }: BoardTask,
  objectives: Board['objectives'],
  filter: { objective: string; text: string; isHidden: boolean },
): boolean {
  if (filter.isHidden && status === 'completed') return false;
  if (filter.objective !== '' && objective !== filter.objective) return false;
  const { name = '', tickets = [] } = objectives.find(({ slug }) => slug === objective) ?? {};
  const texts = [text, name, objective ?? '', claim?.by ?? '', ...tickets];
  const wanted = filter.text.trim().toLowerCase();
  return texts.some((one) => one.toLowerCase().includes(wanted));
}

function Columns({
  tasks,
  objectives,
  isHidden,
  onStep,
}: {
  tasks: readonly BoardTask[];
  objectives: Board['objectives'];
  isHidden: boolean;
  onStep: ((task: BoardTask, step: TaskStep) => void) | undefined;
}) {
  const states = [...new Set([...usual, ...tasks.map(({ status }) => status)])];
  const bySlug = new Map(objectives.map((one) => [one.slug, one]));
  const drop = (id: string | undefined, to: string) => {
    const task = tasks.find((one) => one.id === id);
    if (task && task.status !== to) onStep?.(task, stepTo(task, to));
  };
  const shown = states.filter((state) => !isHidden || state !== 'completed');
  return (
    <div class="board">
      {shown.map((state) => {
        const own = tasks.filter(({ status }) => status === state);
        return (
          <section
            key={state}
            aria-label={nameOf(state)}
            onDragOver={(event) => onStep && event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              drop(event.dataTransfer?.getData('text/plain'), state);
            }}
          >
            <h2>
              {nameOf(state)} <span class="tag">{own.length}</span>
            </h2>
            <ul class="plain">
              {own.slice(0, maxCards).map((task) => (
                <TaskCard
                  key={task.id}
                  task={task}
                  objective={bySlug.get(task.objective ?? '')}
                  states={states}
                  onStep={onStep}
                />
              ))}
            </ul>
            {own.length > maxCards && (
              <p class="faint">and {own.length - maxCards} more; filter them to see them</p>
            )}
          </section>
        );
      })}
    </div>
  );
}
