import { isDeepStrictEqual } from 'node:util';
import { dayOf } from '../../core/declarations/context.ts';
import { decisionTitle } from '../../core/evidence/text-statements.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import {
  type ForeignHit,
  type ForeignRecord,
  type Memories,
  type MemoryPin,
  type MemoryReport,
  type PinnedMemory,
  type PinPreview,
  parseForeign,
} from '../../core/memory/pinned-memories.ts';
import type { SearchRequest } from '../../core/memory/search-hit.ts';
import type { AnyRecordType, BriefPoint } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { withStorageErrors } from '../../git/disk/storage-error.ts';
import { recordPath } from '../history/history-reader.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import { readableIn } from '../modes/access.ts';
import type { CallRights } from '../records/call-rights.ts';
import type { MemoryConfig } from '../records/memory-config.ts';
import { forbidden } from '../records/record-reader.ts';
import type { ForeignFile, ForeignMemory } from './foreign-memory.ts';
import { type Pins, short } from './pins.ts';
import { memoryRef } from './receipt.ts';

/** The pinned memories, for one call of one session. */
export class SessionMemories implements Memories {
  readonly #history: MemoryHistory;
  readonly #pins: Pins;
  readonly #rights: CallRights;
  readonly #now: () => Date;

  constructor(history: MemoryHistory, pins: Pins, rights: CallRights, now: () => Date) {
    this.#history = history;
    this.#pins = pins;
    this.#rights = rights;
    this.#now = now;
  }

  async list(): Promise<readonly PinnedMemory[]> {
    const all = this.#pins.present;
    return Promise.all(all.map((pin) => this.#describe(pin, all)));
  }

  async #describe(pin: MemoryPin, all: readonly MemoryPin[]): Promise<PinnedMemory> {
    const opened = this.#pins.open(pin, all);
    if (typeof opened === 'string') return { ...pin, records: undefined, problem: opened };
    return { ...pin, records: await opened.count(), problem: undefined };
  }

  async isForeign(path: string): Promise<boolean> {
    const name = parseForeign(path)?.memory;
    return name !== undefined && this.#pins.present.some((pin) => pin.name === name);
  }

  async read(address: string, revision?: string): Promise<ForeignRecord> {
    const { memory, path: given } = parseForeign(address) ?? { memory: '', path: address };
    const path = recordPath(given);
    const pins = await this.#pinsAt(revision);
    const pin = pins.find(({ name }) => name === memory);
    if (!pin) {
      throw new MemoryError('not_found', `No memory ${JSON.stringify(memory)} is pinned.`, {
        hint: '"memory-bank memories" lists the memories of other repositories.',
        data: { path: address },
      });
    }
    const opened = this.#pins.open(pin, pins);
    if (typeof opened === 'string') {
      throw new MemoryError('not_found', opened, { data: { path: address } });
    }
    const access = await this.#rights.access();
    if (!access.mayRead(path)) throw forbidden('read', address, access);
    const found = opened.read(path);
    return { ...found.record, caution: this.#cautions(found) };
  }

  async #pinsAt(revision: string | undefined): Promise<readonly MemoryPin[]> {
    if (revision === undefined) return this.#pins.present;
    return this.#pins.at(await this.#history.resolve(revision, this.#rights));
  }

  async records(): Promise<readonly ForeignRecord[]> {
    const access = await this.#rights.access();
    const found: ForeignRecord[] = [];
    for (const memory of this.#opened()) {
      for (const file of await memory.all()) {
        if (file.withheld || !access.mayRead(file.inner)) continue;
        found.push({ ...file.record, caution: this.#cautions(file) });
      }
    }
    return found;
  }

  async search(request: SearchRequest): Promise<readonly ForeignHit[]> {
    const opened = this.#opened();
    if (opened.length === 0) return [];
    const readable = readableIn(await this.#rights.access());
    const found: ForeignHit[] = [];
    for (const memory of opened) found.push(...(await memory.search(request, readable)));
    return found.sort((a, b) => b.score - a.score).slice(0, request.limit);
  }

  async check(): Promise<readonly MemoryReport[]> {
    const all = this.#pins.present;
    const titles = await this.#ownDecisions();
    return Promise.all(
      all.map(async (pin) => {
        const opened = this.#pins.open(pin, all);
        const files = typeof opened === 'string' ? [] : await opened.all();
        const notes = files.flatMap((file) => {
          const { path } = file.record;
          return this.#notesOn(file, titles).map((message) => ({ path, message }));
        });
        return { ...(await this.#describe(pin, all)), notes };
      }),
    );
  }

  async refs(): ReturnType<Memories['refs']> {
    return this.#pins.present.map((pin) => [memoryRef(pin), this.#pins.receipt(pin) ?? '']);
  }

  fetch(name?: string, revision?: string): Promise<readonly PinnedMemory[]> {
    return withStorageErrors('fetch a memory', async () => {
      const { fetchPins } = await import('./pin-fetch.ts');
      const all = await this.#pinsAt(revision);
      const { signal } = this.#rights;
      const failures = await fetchPins(this.#history, this.#pins, signal, all, name);
      const named = all.filter((pin) => name === undefined || pin.name === name);
      const after = await Promise.all(named.map((pin) => this.#describe(pin, all)));
      return after.map(({ problem, ...pin }) => ({
        ...pin,
        problem: problem && (failures.get(pin.name) ?? problem),
      }));
    });
  }

  forget(name: string, commit?: string): Promise<void> {
    return withStorageErrors('remove a memory', async () => {
      const { forget } = await import('./pin-fetch.ts');
      await forget(this.#history, name, commit);
    });
  }

  preview(wanted: MemoryPin): Promise<PinPreview> {
    return withStorageErrors('fetch a memory', async () => {
      const { previewPin } = await import('./pin-fetch.ts');
      return previewPin(this.#history, this.#pins, this.#rights.signal, wanted);
    });
  }

  async pin(
    name: string,
    expected: MemoryPin | undefined,
    pin: MemoryPin | undefined,
  ): Promise<MadeCommit | undefined> {
    const { memory } = this.#history;
    await memory.refresh();
    const before = memory.settings.pins.find((one) => one.name === name);
    if (!isDeepStrictEqual(before, expected)) throw changedMeanwhile(name);
    const configure = (settings: MemoryConfig): MemoryConfig => {
      const { memories = [], ...others } = settings;
      const i = memories.findIndex((one) => one.name === name);
      const list = memories.filter((_, at) => at !== i);
      if (pin) list.splice(i < 0 ? list.length : i, 0, { ...pin });
      return list.length === 0 ? others : { ...others, memories: list };
    };
    // Settings are not records, so the lists of a mode do not apply to them.
    const access = { mode: undefined, mayRead: () => true, mayWrite: () => true };
    const done = pin ? `pin the memory ${name} at ${short(pin)}` : `remove the memory ${name}`;
    const actor = await this.#rights.actor();
    const { made } = await memory.change({ subject: done }, () => undefined, access, actor, {
      caller: this.#rights,
      configure,
    });
    const commit = made && made;
    if (commit) this.#rights.onCommit(commit);
    return commit;
  }

  /** The memories that can be read. */
  #opened(): readonly ForeignMemory[] {
    const all = this.#pins.present;
    return all.flatMap((pin) => {
      const opened = this.#pins.open(pin, all);
      return typeof opened === 'string' ? [] : [opened];
    });
  }

  #cautions({ record, expires }: ForeignFile): readonly string[] {
    const isOver = expires !== undefined && expires < dayOf(this.#now());
    return isOver ? [...record.caution, `It expired on ${expires}.`] : record.caution;
  }

  #notesOn(file: ForeignFile, own: ReadonlyMap<string, string>): readonly string[] {
    if (file.withheld) return ['It is not shown: it contains a credential.'];
    if (file.error) return [`It cannot be read: ${file.error.message}`];
    const { type, value, superseded } = file.record;
    const titles = superseded || value === undefined ? [] : decisionsIn(type, value);
    const same = titles.flatMap((title) => {
      const path = own.get(title);
      if (path === undefined) return [];
      return [
        `Its decision ${JSON.stringify(title)} is also in ${path} of this project, which counts.`,
      ];
    });
    return [...this.#cautions(file), ...same];
  }

  /** The decisions of this memory: their titles, and the paths of their records. */
  async #ownDecisions(): Promise<ReadonlyMap<string, string>> {
    const { memory } = this.#history;
    await memory.refresh();
    const access = await this.#rights.access();
    const found = new Map<string, string>();
    for (const path of memory.view.paths().sort()) {
      const record = access.mayRead(path) ? memory.view.known(path) : undefined;
      if (!record?.value) continue;
      for (const title of decisionsIn(record.type, record.value)) found.set(title, path);
    }
    return found;
  }
}

/** The titles of the decisions of a record, without differences of spelling. */
function decisionsIn(type: AnyRecordType, value: object): string[] {
  const points: readonly BriefPoint[] = type.points?.(value) ?? [];
  const titles = points.map(({ part, text }) => (part === 'decision' ? decisionTitle(text) : ''));
  return [...new Set(titles)].filter((title) => title !== '');
}

function changedMeanwhile(name: string): MemoryError {
  return new MemoryError('conflict', `The pin of ${name} has changed meanwhile.`, {
    hint: 'Run the command again. Nothing was changed.',
    data: { name },
  });
}
