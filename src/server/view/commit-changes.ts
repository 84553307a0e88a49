import type { Context } from '../../core/declarations/context.ts';
import type { RecordChange } from '../../core/memory/commit-log.ts';
import type { CompareRequest } from '../../core/memory/history.ts';
import { MemoryError } from '../../core/values/error.ts';
import { fieldData } from '../copy/shown-content.ts';
import type { Difference, StateComparison } from '../page/answers.ts';
import { commitData } from './answer-data.ts';

/** Two states to compare; without the first one, a commit with the state before it. */
export type StatesRequest = Omit<CompareRequest, 'from' | 'sinceFork' | 'sections'> & {
  readonly from?: string | undefined;
  readonly since?: 'fork' | undefined;
};

/** Compares two states. */
export async function compareStates(
  { history }: Context,
  { from, since, ...request }: StatesRequest,
): Promise<StateComparison> {
  try {
    const found = await history.compare({
      ...request,
      from: from ?? `${request.to}~1`,
      sinceFork: since === 'fork',
      sections: since === 'fork',
    });
    return {
      from: commitData(found.from),
      to: commitData(found.to),
      changes: found.changes.map(difference),
      counts: { ...found.counts },
      ...(found.others !== undefined && { others: found.others }),
    };
  } catch (error) {
    const isFirst = error instanceof MemoryError && error.code === 'not_found';
    if (!isFirst || from !== undefined) throw error;
  }
  // The first commit of the repository: all its records are new.
  const { path, to, skip, limit } = request;
  const state = await history.at(to);
  const { records, total } = await state.list(path, limit, skip);
  return {
    to: commitData(state.commit),
    changes: records.map(({ type, path }) => ({
      change: 'added',
      path,
      type: type.name,
      fields: [],
    })),
    counts: { added: total, changed: 0, moved: 0, removed: 0 },
  };
}

function difference(found: RecordChange): Difference {
  const { type, change, path, from, title, fields, isByBoth, sections = [] } = found;
  return {
    change,
    path,
    ...(from !== undefined && { from }),
    type: type.name,
    ...(title !== undefined && { title }),
    ...(isByBoth && { isByBoth }),
    ...(sections.length > 0 && { sections: [...sections] }),
    fields: fields.map(fieldData),
  };
}
