import { isDeepStrictEqual } from 'node:util';
import type { FieldConflict } from '../../core/memory/conflict.ts';
import type { JsonValue } from '../../core/values/json.ts';
import type { Sides } from './diff3.ts';
import { type SidedResult, settled } from './line-merge.ts';

/** A decision of one conflict: for a side, or for a text that a person has written. */
export type FieldDecision = 'ours' | 'theirs' | { readonly text: string };

/** Decides a conflict of a field; the result is settled, or stays as it was. */
export type Settle<T> = (field: string, base: T, result: SidedResult<T>) => SidedResult<T>;

type Value = JsonValue | undefined;

/** Collects the conflicts of one record, and applies the decisions about them. */
export class FieldConflicts {
  readonly #decisions: ReadonlyMap<string, FieldDecision>;
  readonly #uses = new Map<string, number>();
  readonly #open: FieldConflict[] = [];

  constructor(decisions: ReadonlyMap<string, FieldDecision> = new Map()) {
    this.#decisions = decisions;
  }

  /** The conflicts without a decision. */
  get open(): readonly FieldConflict[] {
    return this.#open;
  }

  /** Decides a value. A text fits only where both sides have one. */
  readonly value: Settle<Value> = (field, base, result) =>
    this.#settle(field, { base, ...result }, (text) =>
      typeof result.ours === 'string' && typeof result.theirs === 'string' ? text : undefined,
    );

  /** Decides lines of a text. */
  readonly lines: Settle<readonly string[]> = (field, base, result) => {
    const shown = (lines: readonly string[]): Value =>
      lines.length === 0 ? undefined : lines.join('\n');
    const linesOf = (value: Value) => (typeof value === 'string' ? value.split('\n') : []);
    const sides = { base: shown(base), ours: shown(result.ours), theirs: shown(result.theirs) };
    const decided = this.#settle(field, sides, (text) => text.replace(/\r/g, '').trimEnd());
    return { ours: linesOf(decided.ours), theirs: linesOf(decided.theirs) };
  };

  #settle(
    field: string,
    { base, ours, theirs }: Sides<Value>,
    read: (text: string) => string | undefined,
  ): SidedResult<Value> {
    if (isDeepStrictEqual(ours, theirs)) return settled(ours);
    const name = this.#unique(field);
    const decision = this.#decisions.get(name);
    if (typeof decision === 'string') return settled(decision === 'ours' ? ours : theirs);
    const text = decision && read(decision.text);
    if (text !== undefined) return settled(text);
    this.#open.push({
      field: name,
      ...(base !== undefined && { base }),
      ...(ours !== undefined && { ours }),
      ...(theirs !== undefined && { theirs }),
    });
    return { ours, theirs };
  }

  #unique(field: string): string {
    const use = (this.#uses.get(field) ?? 0) + 1;
    this.#uses.set(field, use);
    return use === 1 ? field : `${field} (${use})`;
  }
}
