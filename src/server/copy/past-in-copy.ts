import {
  type CopiedState,
  type PackedState,
  stateChanges,
  unpackState,
} from '../../app/exchange/copied-states.ts';
import type { CommitLog, Difference, RecordData } from '../page/answers.ts';
import { RefusedRequest } from '../page/refused-request.ts';
import { presentState, type RecordInCopy } from './record-in-copy.ts';
import { fieldData, shownContent } from './shown-content.ts';

/** The past states of a record in a copy. */
export class PastStates {
  readonly #path: string;
  readonly #record: RecordInCopy;
  readonly #states: readonly PackedState[];

  /** @param states after the first commits of the log of the record. */
  constructor(path: string, record: RecordInCopy, states: readonly PackedState[]) {
    this.#path = path;
    this.#record = record;
    this.#states = states;
  }

  /** The commits, and how many of them have a state. */
  get log(): CommitLog {
    const { log } = this.#record;
    return this.#states.length < log.total ? { ...log, searched: this.#states.length } : log;
  }

  /** Returns the record as it was after a commit. */
  read(at: string): RecordData {
    const place = this.#placeOf(at);
    const state = this.#state(place);
    if (!state) throw new RefusedRequest(404, `There is no record "${this.#path}" in this state.`);
    const { type, toolset, title, text, damaged, value, body, bodyField } = state;
    const { entries } = this.#record.log;
    const isWriting = ({ changes }: (typeof entries)[number]) =>
      changes.some(({ change }) => change !== 'confirmed');
    const last = entries.slice(place).find(isWriting)?.commit;
    const fields = Object.entries(value).filter(([name]) => name !== bodyField);
    return {
      path: this.#path,
      type,
      toolset,
      title,
      text,
      ...shownContent(fields, body),
      ...(damaged !== undefined && { damaged }),
      ...(last && { last }),
      links: { to: [], from: [] },
    };
  }

  /**
   * Returns the change between two states.
   *
   * @param from a commit; `null` for the state before the other one.
   */
  compare(from: string | null, to: string): Difference[] {
    const [after, place] = [this.#placeOf(to), from === null ? undefined : this.#placeOf(from)];
    const before = place ?? after + 1;
    const isFirst = before >= this.#record.log.total;
    const [old, now] = [isFirst ? undefined : this.#state(before), this.#state(after)];
    const about = { path: this.#path, type: (now ?? old)?.type ?? '' };
    if (!old || !now) {
      const change = now ? 'added' : 'removed';
      return old || now ? [{ ...about, change, fields: [] }] : [];
    }
    if (old.text === now.text) return [];
    const fields = stateChanges(this.#path, old, now);
    return [{ ...about, change: 'changed', fields: fields.map(fieldData) }];
  }

  #placeOf(commit: string): number {
    const { entries } = this.#record.log;
    const place = entries.findIndex((one) => one.commit.oid.startsWith(commit));
    if (commit !== '' && place >= 0) return place;
    throw new RefusedRequest(
      404,
      'A copy has a record as it is now, and after each of its commits.',
    );
  }

  #state(place: number): CopiedState | undefined {
    const { length } = this.#states;
    if (place >= length) {
      const which = length === 1 ? 'the newest state' : `the newest ${length} states`;
      throw new RefusedRequest(404, `This copy has the texts of ${which} of this record alone.`);
    }
    const { record } = this.#record;
    return unpackState(record && presentState(record), this.#states, place);
  }
}
