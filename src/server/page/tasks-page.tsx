import type { RecordList } from './answers.ts';
import { useAnswer } from './data.ts';
import { RecordLink, Waiting } from './parts.tsx';
import type { Route } from './route.ts';

/** The columns of the board; a status that is not listed gets a column after them. */
const usual = ['pending', 'in_progress', 'completed'];

/** Maximum number of tasks on the board. */
const maxTasks = 1000;

/** The tasks as a board, with a column for each status. */
export function TasksPage({ route: { at } }: { route: Route }) {
  const answer = useAnswer<RecordList>('/memory/records', { at, type: 'task', limit: maxTasks });
  return (
    <>
      <h1>Tasks</h1>
      <Waiting answer={answer}>
        {({ records, total }) => (
          <>
            {total > records.length && (
              <p class="faint">
                The first {records.length} of {total} tasks.
              </p>
            )}
            <div class="board">
              {[...new Set([...usual, ...records.map(({ status = '' }) => status)])].map(
                (column) => {
                  const tasks = records.filter(({ status = '' }) => status === column);
                  return (
                    <section key={column}>
                      <h2>
                        {column.replaceAll('_', ' ')} <span class="tag">{tasks.length}</span>
                      </h2>
                      <ul class="plain">
                        {tasks.map((task) => (
                          <li key={task.path} class="card">
                            <RecordLink record={task} />
                            {task.owner !== undefined && <div class="faint">{task.owner}</div>}
                          </li>
                        ))}
                      </ul>
                    </section>
                  );
                },
              )}
            </div>
          </>
        )}
      </Waiting>
    </>
  );
}
