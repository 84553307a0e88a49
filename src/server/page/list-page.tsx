import type { RecordList } from './answers.ts';
import { useAnswer, useWhole } from './data.ts';
import { RecordLink, Scrolling, Time, Waiting } from './parts.tsx';
import { addressTo, isCopy, type Route } from './route.ts';
import { UserRecords } from './user-page.tsx';
import type { WindowData } from './window-answers.ts';

/** Number of records on one page. */
const pageSize = 200;

/** The records of all toolsets or of one: banks with their documents, documents by their type. */
export function ListPage({ route: { at, query } }: { route: Route }) {
  const [toolset, type] = [query.get('toolset') ?? undefined, query.get('type') ?? undefined];
  const skip = Number(query.get('skip') ?? 0);
  const answer = useAnswer<RecordList>('/memory/records', { at, toolset, type, skip });
  useWhole(answer);
  const shown = useAnswer<WindowData>('/memory/window', { at });
  const toolsets = new Map(shown.data?.kinds.map(({ toolset, title }) => [toolset, title]));
  const about = toolsets.get(toolset ?? '');
  const pageAt = (start: number) =>
    addressTo('records', '', { toolset, type, skip: String(Math.max(0, start)) });
  return (
    <>
      <h1>Records</h1>
      <nav class="tabs" aria-label="Toolsets">
        {[['', 'Records of all toolsets'] as const, ...toolsets].map(([name, title]) => (
          <a
            key={name}
            href={addressTo('records', '', { toolset: name })}
            aria-current={name === (toolset ?? '') ? 'page' : undefined}
            title={title}
          >
            {name || 'all'}
          </a>
        ))}
      </nav>
      {about !== undefined && <p>{about}</p>}
      <Waiting answer={answer}>
        {({ records, total }) => (
          <>
            <p class="faint">
              {total} {total === 1 ? 'record' : 'records'}
              {type !== undefined && ` of the type ${type}`}
            </p>
            <Listing records={records} />
            <p class="pages">
              {skip > 0 && <a href={pageAt(skip - pageSize)}>Previous</a>}{' '}
              {skip + records.length < total && <a href={pageAt(skip + records.length)}>Next</a>}
            </p>
            {at === undefined && type === undefined && !isCopy && <UserRecords toolset={toolset} />}
          </>
        )}
      </Waiting>
    </>
  );
}

/** A table of records, with a heading for each group. */
function Listing({ records }: { records: RecordList['records'] }) {
  if (records.length === 0) return null;
  const names = new Set(records.map(({ group = '' }) => group));
  const groups = [...names].map(
    (name) => [name, records.filter(({ group = '' }) => group === name)] as const,
  );
  const hasStatus = records.some(({ status }) => status !== undefined);
  return (
    <Scrolling label="Records">
      <table class="listed">
        <thead>
          <tr>
            <th scope="col">record</th>
            {hasStatus && <th scope="col">status</th>}
            <th scope="col">changed</th>
            <th scope="col">file</th>
          </tr>
        </thead>
        {groups.map(([group, members]) => (
          <tbody key={group}>
            {group !== '' && (
              <tr>
                <th scope="rowgroup" colSpan={hasStatus ? 4 : 3}>
                  {group.replaceAll('_', ' ')} <span class="tag">{members.length}</span>
                </th>
              </tr>
            )}
            {members.map((record) => (
              <tr key={record.path}>
                <td>
                  <RecordLink record={record} />
                </td>
                {hasStatus && <td class="status">{record.status?.replaceAll('_', ' ')}</td>}
                <td>
                  {record.isEdited && 'not committed'}
                  {record.updated !== undefined && <Time at={record.updated} />}
                </td>
                <td class="faint path">{record.path}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Scrolling>
  );
}
