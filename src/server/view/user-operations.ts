import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { MemoryError } from '../../core/values/error.ts';
import { userListShape, userRecordShape } from '../page/answers.ts';
import { path, referenceTo } from './answer-data.ts';
import { type Catalogue, defineMemoryOperation } from './operation.ts';
import { contentOf } from './record-answer.ts';
import { listFields } from './record-operations.ts';
import { type KnownRecord, readState } from './record-source.ts';

/** Maximum number of records in the list. */
const maxRecords = 1000;

export const userRecords = defineMemoryOperation({
  method: 'get',
  path: '/memory/user-records',
  id: 'list_user_records',
  summary: 'Lists the records of the user of the server, such as global banks, by path.',
  input: z.object({
    toolset: z.string().max(100).optional().describe('Only records of this toolset'),
  }),
  answer: userListShape,
  async run(context, { toolset }, { types }) {
    const wanted = types.filter((one) => one.toolset === (toolset ?? one.toolset));
    const records = await ofUser(context, wanted);
    return {
      records: records.slice(0, maxRecords).map((record) => {
        const { group, updated } = listFields(record);
        return {
          ...referenceTo(record),
          ...(group !== undefined && { group }),
          ...(updated !== undefined && { updated }),
        };
      }),
    };
  },
});

export const userRecord = defineMemoryOperation({
  method: 'get',
  path: '/memory/user-record/{path}',
  id: 'get_user_record',
  summary: 'Returns a record of the user of the server as fields and HTML.',
  input: z.object({ path }),
  answer: userRecordShape,
  async run(context, { path }, { types }) {
    const owners = types.filter((one) => one.owns(path));
    const record = (await ofUser(context, owners)).find((one) => one.path === path);
    if (!record) throw new MemoryError('not_found', `The user has no record "${path}".`);
    return { ...referenceTo(record), ...contentOf(record.type, record.value, path) };
  },
});

async function ofUser(context: Context, types: Catalogue['types']): Promise<KnownRecord[]> {
  const { history } = context;
  const { records } = await readState({ store: await context.home(), history }, types, undefined);
  return [...records].sort((a, b) => (a.path < b.path ? -1 : 1));
}
