import * as z from 'zod';
import { MemoryError } from '../../core/values/error.ts';
import { aroundRecord } from '../copy/around-record.ts';
import { graphShape } from '../page/answers.ts';
import { at, path, referenceTo } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';
import { RecordLinks } from './record-links.ts';
import { type KnownRecord, readState } from './record-source.ts';

/** Maximum number of records of the graph in one answer. */
const maxNodes = 20_000;

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
      nodes: nodes.map(nodeOf),
      edges,
      total: records.length,
    };
  },
});

/** Gives what a record rests on and what rests on it: the records that name each other, in two steps. */
export const around = defineMemoryOperation({
  method: 'get',
  path: '/memory/around',
  id: 'get_around',
  summary: 'Returns the records that a record names, and those that name it, in two steps.',
  input: z.object({ path, at }),
  answer: graphShape,
  async run(context, { path, at }, { types }) {
    const { records } = await readState(context, types, at);
    const links = new RecordLinks(records);
    const centre = links.at(path);
    if (!centre) throw new MemoryError('not_found', `There is no record "${path}".`);
    return aroundRecord(
      centre,
      (record) => links.from(record),
      (record) => links.to(record),
      nodeOf,
    );
  },
});

/** Returns a record as the graph shows it. */
export function nodeOf(record: KnownRecord) {
  const { status } = record.value;
  return { ...referenceTo(record), ...(typeof status === 'string' && { status }) };
}
