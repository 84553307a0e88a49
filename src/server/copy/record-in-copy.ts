import type { SearchedRecord } from '../../app/exchange/copied-search.ts';
import {
  type CopiedState,
  type PackedState,
  packStates,
} from '../../app/exchange/copied-states.ts';
import { renderHtml } from '../../core/markdown/html.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Blame, CommitLog, RecordData } from '../page/answers.ts';

/** A record in a copy, with its history. */
export interface RecordInCopy {
  /** Undefined for a record that was deleted. */
  readonly record?: RecordData;
  readonly blame?: Blame;
  readonly log: CommitLog;
  /** Undefined for a file that cannot be read. */
  readonly searched?: SearchedRecord;
}

/** A copied record in which each text is only once. */
export interface PackedRecord extends Omit<RecordInCopy, 'record' | 'blame' | 'searched'> {
  readonly record?: Omit<RecordData, 'html'>;
  readonly blame?: Pick<Blame, 'commits'> & {
    /** The commit of each line of the record, negative for the boundary of the history. */
    readonly lines: readonly number[];
  };
  readonly searched?: SearchedRecord;
  /** Where the searched body is in the record. */
  readonly body?: readonly [start: number, end: number];
}

/** The states of a record after the first commits of its log; `null` where it did not exist. */
export type StatesInCopy = readonly (CopiedState | null)[];

/** Packs the states of a record as differences from it. */
export function packStatesOf({ record }: RecordInCopy, states: StatesInCopy): PackedState[] {
  return packStates(record && presentState(record), states);
}

/** The state of a record from which its past ones are unpacked. */
export function presentState({
  type,
  toolset,
  title,
  text,
  fields,
}: Omit<RecordData, 'html'>): CopiedState {
  // They were read from JSON.
  return { type, toolset, title, text, value: fields as JsonObject };
}

const line = /(?<=\n)/;

/** Leaves out the texts that follow from the text of the record. */
export function packRecord({ record, blame, searched, ...rest }: RecordInCopy): PackedRecord {
  if (!record) return rest;
  const { html: _, ...own } = record;
  const lines = record.text === '' ? [] : record.text.split(line);
  // A text that is not committed yet has other lines.
  const isOfText = blame && lines.join('\0') === blame.lines.map(({ text }) => text).join('\0');
  const { body, ...fields } = searched?.fields ?? {};
  const start = body === undefined ? -1 : record.text.indexOf(body);
  return {
    record: own,
    ...rest,
    ...(isOfText && {
      blame: {
        commits: blame.commits,
        lines: blame.lines.map(({ commit, boundary }) => (boundary ? -1 - commit : commit)),
      },
    }),
    ...(searched && {
      searched: {
        ...searched,
        fields: start < 0 ? searched.fields : { title: '', ...fields },
      },
    }),
    ...(body !== undefined && start >= 0 && { body: [start, start + body.length] }),
  };
}

/** Adds again what `packRecord` has left out. */
export function unpackRecord({
  record,
  blame,
  searched,
  body: place,
  ...rest
}: PackedRecord): RecordInCopy {
  if (!record) return rest;
  const { path, text } = record;
  const body = place ? text.slice(...place) : searched?.fields.body;
  const lines = text.split(line);
  return {
    record: {
      ...record,
      ...(body !== undefined && path.endsWith('.md') && { html: renderHtml(body) }),
    },
    ...rest,
    ...(blame && {
      blame: {
        commits: blame.commits,
        lines: blame.lines.map((commit, at) => ({
          text: lines[at] ?? '',
          commit: commit < 0 ? -1 - commit : commit,
          boundary: commit < 0,
        })),
      },
    }),
    ...(searched && {
      searched: {
        ...searched,
        fields: { ...searched.fields, ...(body !== undefined && { body }) },
      },
    }),
  };
}
