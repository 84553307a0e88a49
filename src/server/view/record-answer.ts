import { recordText } from '../../app/project/record-text.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { CommitInfo } from '../../core/memory/commit-log.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import { shownContent } from '../copy/shown-content.ts';
import type { RecordData } from '../page/answers.ts';
import { commitData, referenceTo } from './answer-data.ts';
import type { RecordLinks } from './record-links.ts';
import { titleOf } from './record-source.ts';

/** A record as a page shows it. */
export interface ReadRecord {
  readonly type: AnyRecordType;
  readonly text: string;
  readonly value: object | undefined;
  readonly damaged: string | undefined;
  readonly last: CommitInfo | undefined;
}

/** Returns a record with its content as fields and HTML, and with its links. */
export function recordAnswer(
  { type, text, value, damaged, last }: ReadRecord,
  path: string,
  links: RecordLinks,
): RecordData {
  const found = links.at(path);
  return {
    path,
    type: type.name,
    toolset: type.toolset,
    title: value ? titleOf(type, value, path) : path,
    text,
    ...(value ? contentOf(type, value, path) : { fields: {} }),
    ...(damaged !== undefined && { damaged }),
    ...(last && { last: commitData(last) }),
    links: {
      to: found ? links.from(found).map(referenceTo) : [],
      from: found ? links.to(found).map(referenceTo) : [],
    },
  };
}

export async function readRecord(
  context: Context,
  types: readonly AnyRecordType[],
  path: string,
  revision: string | undefined,
): Promise<ReadRecord> {
  if (revision !== undefined) {
    const { type, text, value, error, last } = await (await context.history.at(revision)).read(
      path,
    );
    return { type, text, value, damaged: error?.text, last };
  }
  for (const type of types.filter((one) => one.owns(path))) {
    const { records, damaged } = await context.store.list(type);
    const record = records.find((one) => one.path === path);
    const problem = damaged.find((one) => one.path === path);
    if (!record && !problem) continue;
    const text = await recordText(context, path);
    const last = await lastCommit(context, path);
    return { type, text, value: record?.value, damaged: problem?.error.text, last };
  }
  throw new MemoryError('not_found', `There is no record "${path}".`);
}

/** Returns the last commit that changed a record; a record that a person has just written has none. */
export async function lastCommit(
  { history }: Context,
  path: string,
): Promise<CommitInfo | undefined> {
  try {
    return (await (await history.at('HEAD')).read(path)).last;
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Returns the fields of a record, and the body of a markdown file as HTML. */
export function contentOf(type: AnyRecordType, value: object, path: string) {
  const body = path.endsWith('.md') ? type.search(value).body : undefined;
  const isBody = (field: unknown) => body !== undefined && field === body;
  const all = Object.entries(isObject(value) ? value : {});
  return shownContent(
    all.filter(([, field]) => !isBody(field)),
    body,
  );
}
