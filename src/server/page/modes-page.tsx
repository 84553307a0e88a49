import { useAnswer } from './data.ts';
import { Scrolling, Waiting } from './parts.tsx';
import type { Route } from './route.ts';
import type { ModeList } from './window-answers.ts';

/** The modes: which of them may read and change what. */
export function ModesPage({ route: { at } }: { route: Route }) {
  const answer = useAnswer<ModeList>('/memory/modes', { at });
  return (
    <>
      <h1>Modes</h1>
      <Waiting answer={answer}>
        {({ modes, skipped }) => (
          <>
            <Scrolling label="Modes">
              <table class="listed">
                <thead>
                  <tr>
                    <th scope="col">mode</th>
                    <th scope="col">may read</th>
                    <th scope="col">may change</th>
                    <th scope="col">defined in</th>
                  </tr>
                </thead>
                <tbody>
                  {modes.map(({ name, source, read, write, current }) => (
                    <tr key={name}>
                      <th scope="row">
                        {name}
                        {current && ' (current)'}
                      </th>
                      <td data-label="may read">{read}</td>
                      <td data-label="may change">{write}</td>
                      <td data-label="defined in">{source}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scrolling>
            {skipped.length > 0 && (
              <section class="problem">
                <h2>Rule files that cannot be used</h2>
                <ul>
                  {skipped.map(({ path, message }) => (
                    <li key={path}>
                      {path}: {message}
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </>
        )}
      </Waiting>
    </>
  );
}
