import * as z from 'zod';
import { graphShape } from '../page/answers.ts';
import { at, referenceTo } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';
import { RecordLinks } from './record-links.ts';
import { readState } from './record-source.ts';

/** Maximum number of records in one picture. */
const maxNodes = 5000;

/** Gives the picture of features, requirements, paths, objectives, tasks and tickets. */
export const graph = defineMemoryOperation({
  method: 'get',
  path: '/memory/graph',
  id: 'get_graph',
  summary: 'Returns the records of the graph, and which of them are parts of others.',
  input: z.object({ at }),
  answer: graphShape,
  async run(context, { at }, { types }) {
    const wanted = types.filter(({ toolset }) => toolset === 'graph');
    const { records } = await readState(context, wanted, at);
    const nodes = [...records].sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, maxNodes);
    const places = new Map(nodes.map((record, i) => [record, i]));
    const edges = new RecordLinks(nodes).parts().flatMap(([whole, part]): [number, number][] => {
      const [from, to] = [places.get(whole), places.get(part)];
      return from === undefined || to === undefined ? [] : [[from, to]];
    });
    return {
      nodes: nodes.map((record) => {
        const { status } = record.value;
        return { ...referenceTo(record), ...(typeof status === 'string' && { status }) };
      }),
      edges,
      total: records.length,
    };
  },
});
