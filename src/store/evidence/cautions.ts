import { MemoryError } from '../../core/error.ts';
import type { Annotations } from '../../core/evidence/annotations.ts';
import { memoryLinks } from '../../core/evidence/memory-links.ts';
import { parseAddress, readClaims, type Sections } from '../../core/evidence/section-claims.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { Visit } from '../history/visit.ts';
import { isSettled } from '../records/record-file.ts';
import { inSlices } from '../records/slices.ts';
import { describe } from './evidence-check.ts';
import {
  byKey,
  type CodeNow,
  codeNow,
  findNamed,
  judgeAll,
  readText,
  withBaselines,
} from './record-claims.ts';
import { evidenceOf } from './record-evidence.ts';

/** Limit of the cautions that an answer has about one record. */
const maxCautions = 5;
/** Limit of the records whose texts and verdicts stay in memory. */
const maxKnown = 20_000;

/** The parts of a record's text that its cautions depend on. */
interface RecordText {
  readonly stat: Stat | undefined;
  readonly annotations: Annotations;
  readonly hasEvidence: boolean;
  /** Addresses of other records and of sections that it names. */
  readonly links: readonly string[];
  /** Its sections, if some of them say by which one they were replaced. */
  readonly sections: Sections | undefined;
}

/** The verdicts about a record, and the files that they depend on. */
interface Verdicts {
  readonly head: Oid;
  readonly record: Stat | undefined;
  readonly files: readonly (readonly [path: string, stat: Stat | undefined])[];
  readonly doubts: readonly string[];
}

/** Knows why a reader should not rely on a record, and compares again only what has changed since. */
export class Cautions {
  readonly #texts = new Map<string, RecordText>();
  readonly #verdicts = new Map<string, Verdicts>();
  #code: CodeNow | undefined;

  /** The cautions about records and sections, by address; one without a caution is left out. */
  async about(
    visit: Visit,
    addresses: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    const wanted: string[] = [];
    for (const address of new Set(addresses)) {
      const { section } = parseAddress(address);
      if (section === undefined) {
        if (visit.mayRead(address)) wanted.push(address);
        continue;
      }
      const { by } = this.#successorOf(visit, address);
      if (by)
        found.set(address, [`Its section ${JSON.stringify(section)} was superseded by ${by}.`]);
    }
    const doubts = await this.#doubts(
      visit,
      wanted.filter((path) => this.#text(visit, path).hasEvidence),
    );
    for (const path of wanted) {
      const { annotations, links } = this.#text(visit, path);
      const { supersededBy, expires } = annotations;
      const superseded = links.flatMap((link) => {
        const { name, by } = this.#successorOf(visit, link);
        return by !== undefined && by !== path ? [`It names ${name}, which ${by} supersedes.`] : [];
      });
      const all = [
        ...(supersededBy === undefined ? [] : [`Superseded by ${supersededBy}.`]),
        ...(expires !== undefined && expires < visit.archive.today()
          ? [`Expired on ${expires}.`]
          : []),
        ...(doubts.get(path) ?? []),
        ...superseded,
      ];
      const rest = all.length - maxCautions;
      const shown = rest > 0 ? [...all.slice(0, maxCautions), `And ${rest} more.`] : all;
      if (shown.length > 0) found.set(path, shown);
    }
    return found;
  }

  /** The address of a record or section, and of the one that has replaced it. */
  #successorOf(visit: Visit, address: string): { readonly name: string; readonly by?: string } {
    const { path, section } = parseAddress(address);
    const known = visit.mayRead(path) ? this.#text(visit, path) : undefined;
    const found = section === undefined ? undefined : known?.sections?.find(section);
    const by =
      section === undefined
        ? known?.annotations.supersededBy
        : found && known?.sections?.claimsOf(found).supersededBy;
    const name = (found && known?.sections?.addressOf(found)) ?? address;
    return { name, ...(by !== undefined && { by }) };
  }

  #text(visit: Visit, path: string): RecordText {
    const { view } = visit.archive.memory;
    const record = view.typeOf(path) && view.look(path);
    const known = this.#texts.get(path);
    if (known && record && sameStat(known.stat, record.stat)) return known;
    const text = record ? (readText(visit, path) ?? '') : '';
    const { annotations, sections } = readClaims(path, text);
    const own = new Set([path, annotations.supersededBy, ...annotations.supersedes]);
    const read: RecordText = {
      stat: record?.settled ? record.stat : undefined,
      annotations,
      hasEvidence: record !== undefined && evidenceOf(record.type, path, text).length > 0,
      links: memoryLinks(path, sections?.live() ?? text).filter(
        (link) => !own.has(link) && view.typeOf(parseAddress(link).path) !== undefined,
      ),
      sections,
    };
    if (this.#texts.size >= maxKnown) this.#texts.clear();
    this.#texts.set(path, read);
    return read;
  }

  /** The sentences about changed and removed code. */
  async #doubts(
    visit: Visit,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    if (paths.length === 0) return new Map();
    try {
      const head = visit.archive.repository.head().oid;
      if (head === undefined) return new Map();
      const outdated = paths.filter((path) => !this.#isCurrent(visit, head, path));
      if (outdated.length > 0) await this.#judge(visit, head, outdated);
      return new Map(paths.map((path) => [path, this.#verdicts.get(path)?.doubts ?? []]));
    } catch (error) {
      // A search also answers where the repository cannot be read; the check reports the reason.
      if (error instanceof MemoryError && error.code !== 'cancelled') return new Map();
      throw error;
    }
  }

  #isCurrent(visit: Visit, head: Oid, path: string): boolean {
    const known = this.#verdicts.get(path);
    if (!known || known.head !== head) return false;
    if (!sameStat(known.record, visit.archive.memory.view.look(path)?.stat)) return false;
    return known.files.every(([file, stat]) => sameStat(stat, this.#stat(visit, head, file)));
  }

  #stat(visit: Visit, head: Oid, path: string): Stat | undefined {
    try {
      const { work } = visit.archive.repository;
      return work.peek(this.#codeAt(visit, head).code.inTree(path));
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  #codeAt(visit: Visit, head: Oid): CodeNow {
    if (this.#code?.head !== head) this.#code = codeNow(visit, head);
    return this.#code;
  }

  async #judge(visit: Visit, head: Oid, paths: readonly string[]): Promise<void> {
    const since = Date.now();
    const pause = () => visit.permit.signal.throwIfAborted();
    const now = this.#codeAt(visit, head);
    const named = await inSlices(findNamed(visit, head, paths), pause);
    const claims = await withBaselines(visit, head, named);
    const files = new Set(claims.map(({ reference }) => reference.path));
    // Taken before the files are read: a change between the two shows at the next call.
    const stats = new Map([...files].map((file) => [file, this.#stat(visit, head, file)]));
    const judged = byKey(await inSlices(judgeAll(visit, now, undefined, claims), pause), (one) => {
      return one.record;
    });
    const claimed = byKey(claims, ({ record }) => record);
    if (this.#verdicts.size >= maxKnown) this.#verdicts.clear();
    for (const path of paths) {
      const own = judged.get(path) ?? [];
      const rests = new Set((claimed.get(path) ?? []).map(({ reference }) => reference.path));
      for (const { judgement } of own) if (judgement.now) rests.add(judgement.now.path);
      const found = [...rests].map((file) => {
        const stat = stats.has(file) ? stats.get(file) : this.#stat(visit, head, file);
        return [file, stat] as const;
      });
      this.#verdicts.delete(path);
      // A file that was changed a moment ago can change again without another timestamp.
      if (found.some(([, stat]) => stat?.kind === 'file' && !isSettled(stat, since))) {
        this.#set(path, { head: '', record: undefined, files: [], doubts: sentences(own) });
      } else {
        const record = visit.archive.memory.view.look(path)?.stat;
        this.#set(path, { head, record, files: found, doubts: sentences(own) });
      }
    }
  }

  #set(path: string, verdicts: Verdicts): void {
    this.#verdicts.set(path, verdicts);
  }
}

function sentences(judged: Parameters<typeof describe>[0][]): string[] {
  return judged.flatMap((one) => {
    const { verdict } = one.judgement;
    return verdict === 'changed' || verdict === 'gone' ? [describe(one)] : [];
  });
}
