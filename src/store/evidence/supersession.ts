import type { Annotations } from '../../core/evidence/annotations.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { readText } from './judged-places.ts';
import type { MendCommands } from './mend-commands.ts';

/** A record with its statements about other records. */
export interface LinkedRecord extends Pick<Annotations, 'supersedes' | 'supersededBy' | 'expires'> {
  readonly path: string;
  /** Addresses of other records and of sections that its text names. */
  readonly links: readonly string[];
  /** Its sections, if some of them say what they replace, or by which one they were replaced. */
  readonly sections: Sections | undefined;
}

/** A contradiction between statements about which record replaces which one. */
export interface Contradiction {
  readonly path: string;
  readonly kind: 'superseded' | 'rivals' | 'broken';
  readonly message: string;
  /** Addresses of the other records. */
  readonly others: readonly string[];
  readonly mend: string;
}

/** A record, or a section of one, with resolved addresses. */
interface Node {
  readonly id: string;
  readonly path: string;
  readonly supersedes: readonly string[];
  readonly supersededBy: string | undefined;
}

/** Compares which records and sections replace which other ones. */
export class Supersession {
  readonly #reader: HistoryReader;
  readonly #records: ReadonlyMap<string, LinkedRecord>;
  readonly #sections = new Map<string, Sections>();
  readonly #nodes = new Map<string, Node>();
  /** The live replacements of each address. */
  readonly #successors = new Map<string, string[]>();

  constructor(reader: HistoryReader, records: ReadonlyMap<string, LinkedRecord>) {
    [this.#reader, this.#records] = [reader, records];
    for (const record of records.values()) {
      const { path, supersededBy } = record;
      this.#add({ id: path, path, supersededBy, supersedes: record.supersedes });
      for (const { section, supersedes, supersededBy } of record.sections?.statements() ?? []) {
        const id = record.sections?.addressOf(section) ?? path;
        if (id !== path) this.#add({ id, path, supersedes, supersededBy });
      }
    }
    for (const { id, path, supersedes, supersededBy } of this.#nodes.values()) {
      if ((supersededBy ?? records.get(path)?.supersededBy) !== undefined) continue;
      for (const old of supersedes) {
        this.#successors.set(old, [...(this.#successors.get(old) ?? []), id]);
      }
    }
  }

  #add(node: Node): void {
    const supersedes = [...new Set(node.supersedes.map((one) => this.#resolve(one) ?? one))];
    this.#nodes.set(node.id, { ...node, supersedes });
  }

  #sectionsOf(path: string): Sections {
    const known = this.#records.get(path)?.sections ?? this.#sections.get(path);
    if (known) return known;
    const sections = new Sections(path, readText(this.#reader, path) ?? '');
    this.#sections.set(path, sections);
    return sections;
  }

  /** The one address of a record or section that exists. */
  #resolve(address: string): string | undefined {
    const { path, section } = parseAddress(address);
    if (!this.#records.has(path)) return undefined;
    if (section === undefined) return path;
    const sections = this.#sectionsOf(path);
    const found = sections.find(section);
    return found && sections.addressOf(found);
  }

  *contradictions(mend: MendCommands): Generator<Contradiction> {
    for (const [id, { path, supersededBy, supersedes }] of this.#nodes) {
      const it = nameOf(id);
      if (supersededBy !== undefined) {
        if (this.#resolve(supersededBy) !== undefined) continue;
        const message = `${it} was superseded by ${supersededBy}, which does not exist.`;
        const successor = parseAddress(supersededBy).path;
        if (this.#isUnread(successor)) continue;
        const isThere = this.#records.has(successor);
        const command = (isThere ? undefined : mend.bringBack(successor)) ?? mend.edit(path);
        yield { path, kind: 'broken', message, others: [supersededBy], mend: command };
        continue;
      }
      for (const old of supersedes) {
        if (this.#isUnknown(old, mend)) {
          const message = `${it} supersedes ${old}, which does not exist.`;
          yield { path, kind: 'broken', message, others: [old], mend: mend.edit(path) };
        }
        const rivals = (this.#successors.get(old) ?? []).filter((other) => other !== id);
        if (rivals.length === 0) continue;
        const message = `${it} supersedes ${old}, as ${rivals.join(', ')} does.`;
        yield {
          path,
          kind: 'rivals',
          message,
          others: rivals,
          mend: this.replacing(id, rivals, mend),
        };
      }
    }
    for (const [id, [successor]] of this.#successors) {
      const { path, section } = parseAddress(id);
      if (successor === undefined || this.#nodes.get(id)?.supersededBy !== undefined) continue;
      // A record that was replaced can be removed later.
      if (this.#resolve(id) === undefined) continue;
      const it = section === undefined ? 'it' : `its section ${JSON.stringify(section)}`;
      const message = `${successor} supersedes ${it}, but it does not say so.`;
      const command = this.replacing(successor, [id], mend);
      yield { path, kind: 'superseded', message, others: [successor], mend: command };
    }
  }

  /** The command that lets a record or section replace other ones, also those that it replaces now. */
  replacing(id: string, old: readonly string[], mend: MendCommands): string {
    const now = this.#nodes.get(id)?.supersedes ?? [];
    const kept = now.filter((one) => this.#resolve(one) !== undefined);
    return mend.supersede(id, [...new Set([...kept, ...old])]);
  }

  /** Whether there is such a file, which cannot be read, or not by this session. */
  #isUnread(path: string): boolean {
    const { view } = this.#reader.history.memory;
    return !this.#records.has(path) && view.lastRead(path) !== undefined;
  }

  /** Whether an address is not one of a record, and the history does not have the record either. */
  #isUnknown(address: string, mend: MendCommands): boolean {
    const { path, section } = parseAddress(address);
    // A record that was replaced can be removed later; the link to a section would lead nowhere.
    if (!this.#records.has(path)) return !this.#isUnread(path) && mend.isUnheardOf(path);
    return section !== undefined && this.#resolve(address) === undefined;
  }

  /** The superseded records and sections that a live record names, each with its successor. */
  supersededLinks({ path, links, supersedes }: LinkedRecord) {
    // As most records do: a check asks for each of them.
    if (links.length === 0) return [];
    const found = new Map<string, string>();
    const own = new Set(supersedes);
    for (const address of links) {
      const link = parseAddress(address).section === undefined ? address : this.#resolve(address);
      const by = link === undefined ? undefined : this.#nodes.get(link)?.supersededBy;
      if (link === undefined || by === undefined || by === path || own.has(link)) continue;
      found.set(link, by);
    }
    return [...found].map(([link, by]) => ({ link, by }));
  }
}

/** How a finding about a record names the record itself, or one of its sections. */
function nameOf(id: string): string {
  const { section } = parseAddress(id);
  return section === undefined ? 'It' : `Its section ${JSON.stringify(section)}`;
}
