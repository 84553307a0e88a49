import type { MemoryPin } from '../../core/memory/pinned-memories.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import { shownTree } from '../layout/layout-trees.ts';
import { configPath, readConfig } from '../records/memory-config.ts';
import { ForeignMemory } from './foreign-memory.ts';
import { memoryRef, openReceipt } from './receipt.ts';

/** Limit of commits whose records stay in memory. */
const maxOpen = 20;

/** The pinned memories of one memory folder, shared by all calls. */
export class Pins {
  readonly #history: MemoryHistory;
  readonly #open = new Map<string, ForeignMemory>();

  constructor(history: MemoryHistory) {
    this.#history = history;
  }

  /** The pins of the work tree. */
  get present(): readonly MemoryPin[] {
    return this.#history.memory.settings.pins;
  }

  /** The pins of a commit; none if its settings cannot be read. */
  at(commit: Oid): readonly MemoryPin[] {
    try {
      return readConfig(this.#history.records(commit).text(configPath) ?? '').memories ?? [];
    } catch (error) {
      if (error instanceof MemoryError) return [];
      throw error;
    }
  }

  /** The object of a pin that is fetched; undefined for one that is not. */
  receipt(pin: MemoryPin): Oid | undefined {
    const repository = this.#history.memory.repository();
    return repository?.canReadRefs ? repository.refs.resolve(memoryRef(pin)) : undefined;
  }

  /** Opens a pinned memory; returns why it cannot be read otherwise. */
  open(pin: MemoryPin, all: readonly MemoryPin[]): ForeignMemory | string {
    const wrong = problemOf(pin, all);
    if (wrong !== undefined) return wrong;
    const receipt = this.receipt(pin);
    if (receipt === undefined) {
      return `Commit ${short(pin)} of ${addressOf(pin)} is not fetched: run "memory-bank memories fetch".`;
    }
    const key = `${receipt} ${pin.name} ${pin.commit} ${pin.folder ?? ''}`;
    const known = this.#open.get(key);
    if (known) return known;
    const { odb } = this.#history.repository;
    const found = openReceipt(odb, receipt, pin);
    if (found === undefined) {
      return `What ${memoryRef(pin)} has is not the memory of the pinned commit: run "memory-bank memories fetch".`;
    }
    const opened = new ForeignMemory(
      pin,
      this.#history.open(shownTree(this.#history.repository.odb, found.tree)),
      found.seconds,
    );
    this.#open.set(key, opened);
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size > maxOpen) this.#open.delete(oldest);
    return opened;
  }
}

/** Why an entry of the settings is not used; undefined if it is. */
export function problemOf(pin: MemoryPin, all: readonly MemoryPin[]): string | undefined {
  const { name, url, path } = pin;
  if (all.filter((other) => other.name === name).length > 1) {
    return `${configPath} lists ${name} more than once: keep one of the entries.`;
  }
  if ((url === undefined) === (path === undefined)) {
    return `${configPath} needs either a url or a path for ${name}.`;
  }
  return undefined;
}

/** The address of the repository of a pin, as the settings have it. */
export function addressOf({ url, path }: MemoryPin): string {
  return url ?? path ?? '';
}

/** The beginning of the pinned id. */
export function short({ commit }: MemoryPin): string {
  return commit.slice(0, 12);
}
