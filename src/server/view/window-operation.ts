import { basename } from 'node:path';
import * as z from 'zod';
import { windowShape } from '../page/window-answers.ts';
import { at, commitData } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';

/** Gives the data that every page needs, without reading the records. */
export const windowData = defineMemoryOperation({
  method: 'get',
  path: '/memory/window',
  id: 'get_window',
  summary: 'Returns the project, the state of it that is shown, and the kinds of records.',
  input: z.object({ at }),
  answer: windowShape,
  async run({ project, history }, { at }, { toolsets, types }) {
    const { root, projectId: id } = await project.info();
    const { branch, oid: head } = await project.head();
    const [newest] = at === undefined ? [] : (await history.newest(at, 1)).entries;
    return {
      project: basename(root),
      ...(id !== undefined && { id }),
      branch,
      head,
      commit: newest && commitData(newest.commit),
      kinds: types.map(({ name, toolset }) => ({
        toolset,
        title: toolsets.find((one) => one.name === toolset)?.title ?? toolset,
        type: name,
      })),
    };
  },
});
