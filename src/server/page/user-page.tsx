import type { UserRecord, UserRecordList } from './answers.ts';
import { useAnswer } from './data.ts';
import { Fields, Markdown, Time, Waiting } from './parts.tsx';
import { addressTo, type Route } from './route.ts';

/** The records of the user, such as global banks; nothing if there are none. */
export function UserRecords({ toolset }: { toolset: string | undefined }) {
  const { data } = useAnswer<UserRecordList>('/memory/user-records', { toolset });
  if (!data || data.records.length === 0) return null;
  const groups = new Set(data.records.map(({ group = '' }) => group));
  return (
    <section>
      <h2>Yours in every project</h2>
      <p class="faint">
        These records are in the memory of the user who runs the server, and not in this project.
      </p>
      <table class="listed">
        <thead>
          <tr>
            <th scope="col">record</th>
            <th scope="col">changed</th>
            <th scope="col">file</th>
          </tr>
        </thead>
        {[...groups].map((name) => {
          const members = data.records.filter(({ group = '' }) => group === name);
          return (
            <tbody key={name}>
              {name !== '' && (
                <tr>
                  <th scope="rowgroup" colSpan={3}>
                    {name} <span class="tag">{members.length}</span>
                  </th>
                </tr>
              )}
              {members.map(({ path, title, type, updated }) => (
                <tr key={path}>
                  <td>
                    <a class="record" href={addressTo('user', path)}>
                      {title} <small class="kind">{type}</small>
                    </a>
                  </td>
                  <td>{updated !== undefined && <Time at={updated} />}</td>
                  <td class="faint path">{path}</td>
                </tr>
              ))}
            </tbody>
          );
        })}
      </table>
    </section>
  );
}

/** A record of the user, to read. */
export function UserPage({ route: { rest: path } }: { route: Route }) {
  const answer = useAnswer<UserRecord>(`/memory/user-record/${path}`);
  return (
    <article>
      <h1>{answer.data?.title ?? path}</h1>
      <p class="faint path">{path} in the memory of the user, which all projects share</p>
      <Waiting answer={answer}>
        {({ html, fields }) => (
          <>
            {html !== undefined && <Markdown html={html} path={path} />}
            <Fields fields={fields} />
          </>
        )}
      </Waiting>
    </article>
  );
}
