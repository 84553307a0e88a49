import { useState } from 'preact/hooks';
import type { Board } from './board-answers.ts';

/** Adds a task to an objective; a text that is refused stays in its field. */
export function NewTask({
  objectives,
  chosen,
  onAdd,
}: {
  objectives: Board['objectives'];
  /** The slug of the objective that the board shows; empty for all. */
  chosen: string;
  /** @returns whether the task was added. */
  onAdd: (objective: string, text: string) => Promise<boolean>;
}) {
  const [picked, setPicked] = useState('');
  const [text, setText] = useState('');
  const wanted = [picked, chosen].find((slug) => objectives.some((one) => one.slug === slug));
  const objective = wanted ?? objectives[0]?.slug;
  if (objective === undefined) return null;
  return (
    <form
      class="row"
      onSubmit={async (event) => {
        event.preventDefault();
        if (text.trim() !== '' && (await onAdd(objective, text))) setText('');
      }}
    >
      <label>
        New task{' '}
        <input
          type="text"
          value={text}
          onInput={({ currentTarget: { value } }) => setText(value)}
        />
      </label>
      <label>
        of{' '}
        <select value={objective} onChange={({ currentTarget: { value } }) => setPicked(value)}>
          <ObjectiveOptions objectives={objectives} />
        </select>
      </label>
      <button type="submit">Add</button>
    </form>
  );
}

/** The choices of a list of objectives, by their names. */
export function ObjectiveOptions({ objectives }: Pick<Board, 'objectives'>) {
  return (
    <>
      {objectives.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name}
        </option>
      ))}
    </>
  );
}
