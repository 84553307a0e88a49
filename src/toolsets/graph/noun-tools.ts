import type * as z from 'zod';
import { nextOffset } from '../../core/answers/offset-argument.ts';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { afterCommit } from '../../core/memory/after-commit.ts';
import { reportDamaged } from '../../core/memory/answer-fields.ts';
import type { Listing, Located } from '../../core/memory/listing.ts';
import type { Reader, Store, Transaction } from '../../core/memory/store.ts';
import type { RecordType } from '../../core/record/record-type.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { bodiesOf, type FieldChanges, findRecord, remove, update, updatedBody } from './crud.ts';
import type { Fallout } from './provenance.ts';
import type { GraphRecord } from './records.ts';

/** A record type with the parts that its tools have in common. */
interface Noun<T extends GraphRecord, A> {
  readonly type: RecordType<T>;
  /** The argument that names a record. */
  readonly naming: z.ZodObject & z.ZodType<A>;
  /** Returns the key of the named record. */
  key(reader: Reader, named: A): string | Promise<string>;
  /** Returns the id of the record that a record belongs to; null if that record is missing. */
  owner?(reader: Reader, value: T): Promise<string | null>;
  /** Makes a record as the tools return it. */
  body(value: T, owner: string | null): JsonObject;
  /** Adds to the bodies of records that are read. Default: nothing. */
  extend?(
    context: Context,
    records: readonly Located<T>[],
    bodies: readonly JsonObject[],
  ): Promise<JsonObject[]>;
  /** Returns what a caller should know about a record that was just changed; undefined for nothing. */
  remark?(context: Context, changed: T): Promise<string | undefined>;
  /** Whether a changed record is compared with the others. Default: true. */
  readonly compared?: boolean;
}

/** The records of a list before its offset is applied, and the id of their owner. */
interface Selection<T> extends Listing<T> {
  readonly owner?: string;
}

/** Makes the tools that read, list, change and delete the records of one type (seed 000). */
export class NounTools<T extends GraphRecord, A> {
  readonly #noun: Noun<T, A>;
  readonly #one: string;
  readonly #many: string;

  constructor(noun: Noun<T, A>) {
    const { name } = noun.type;
    this.#noun = noun;
    this.#one = `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
    this.#many = `${name}s`;
  }

  /** Makes the tool `get_<noun>`. */
  get(description: string): Tool {
    const { type, naming, key } = this.#noun;
    return defineTool({
      name: `get_${type.name}`,
      title: `Get ${this.#one}`,
      description,
      effect: 'read',
      input: naming,
      handle: async (context, named) => {
        const { store } = context;
        const found = await findRecord(store, type, await key(store, named));
        const [body = {}] = await this.#read(context, [found], await this.#owner(store, found));
        return { [type.name]: body };
      },
    });
  }

  /** Makes the tool `list_<noun>s`. */
  list<I extends z.ZodObject & z.ZodType<{ readonly offset: number }>>(
    description: string,
    input: I,
    select: (store: Store, args: z.output<I>) => Promise<Selection<T>>,
  ): Tool {
    return defineTool({
      name: `list_${this.#many}`,
      title: `List ${this.#many}`,
      description,
      effect: 'read',
      input,
      growing: { [this.#many]: nextOffset },
      handle: async (context, args) => {
        const { records, damaged, owner = null } = await select(context.store, args);
        const bodies = await this.#read(context, records.slice(args.offset), owner);
        return { [this.#many]: bodies, ...reportDamaged(damaged) };
      },
    });
  }

  /**
   * Makes the tool `update_<noun>`.
   *
   * @param input the argument that names the record, and the fields to change.
   */
  update<I extends z.ZodObject & z.ZodType<FieldChanges<T> & A>>(
    description: string,
    input: I,
  ): Tool {
    const { type, key, compared = true, body, remark } = this.#noun;
    return defineTool({
      name: `update_${type.name}`,
      title: `Update ${this.#one}`,
      description,
      effect: 'write',
      idempotent: true,
      input,
      handle: async (context, args) => {
        const updated = await update(context, type, await key(context.store, args), args);
        const { record } = updated;
        const owner = await afterCommit(context, () => this.#owner(context.store, record), null);
        const read = async () => remark?.(context, record.value);
        const remarked = await afterCommit(context, read, undefined);
        if (remarked !== undefined) context.note(remarked);
        const made = (value: T) => body(value, owner);
        if (!compared) return { [type.name]: made(record.value) };
        return { [type.name]: await updatedBody(context, type, updated, made) };
      },
    });
  }

  /**
   * Makes the tool `delete_<noun>`.
   *
   * @param cascade removes or changes the dependents of a record.
   */
  delete(
    description: string,
    cascade?: (draft: Transaction, value: T) => Promise<readonly Fallout[]>,
  ): Tool {
    const { type, naming, key } = this.#noun;
    return defineTool({
      name: `delete_${type.name}`,
      title: `Delete ${this.#one}`,
      description,
      effect: 'destroy',
      idempotent: true,
      input: naming,
      handle: async (context, named) =>
        remove(context, type, await key(context.store, named), cascade),
    });
  }

  /** Makes the bodies of records that are read. */
  async #read(
    context: Context,
    records: readonly Located<T>[],
    owner: string | null,
  ): Promise<JsonObject[]> {
    const { body, extend } = this.#noun;
    const bodies = await bodiesOf(context.store, records, (value) => body(value, owner));
    return extend ? extend(context, records, bodies) : bodies;
  }

  async #owner(reader: Reader, { value }: Located<T>): Promise<string | null> {
    return (await this.#noun.owner?.(reader, value)) ?? null;
  }
}
