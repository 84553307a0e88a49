import { createHash } from 'node:crypto';
import {
  folded,
  joint,
  type NamedSection,
  namedSections,
} from '../../core/markdown/section-path.ts';
import { withoutDate } from '../../core/markdown/title-date.ts';
import { parseAddress, type RecordAddress } from '../../core/names/record-address.ts';
import type { ChangeIndex } from './change-index.ts';
import type { HistoryReader } from './history-reader.ts';
import { ancestors } from './lineage.ts';
import type { IndexedCommit } from './repository-history.ts';

/** A commit by which a person confirmed something, by its number. */
interface Confirming extends RecordAddress {
  readonly commit: number;
  /** See `confirmedText`. */
  readonly text: string;
}

/** The confirmations up to the last commit that was asked for. */
const kept = new WeakMap<ChangeIndex, { number: number; found: readonly Confirming[] }>();

/** Returns the hash by which a confirmed text is known; line ends do not count. */
export function confirmedText(text: string): string {
  return createHash('sha256').update(plain(text)).digest('hex').slice(0, 32);
}

/**
 * The confirmations in the history of a commit.
 *
 * A text counts as confirmed while it is as it was then, also at another path. A squash can have
 * confirmations of texts that its later commits changed.
 */
export class Confirmations {
  readonly #reader: HistoryReader;
  readonly #index: ChangeIndex;
  /** The newest first. */
  readonly #all: readonly Confirming[];
  /** By commit: the text of the record that it confirmed as a whole. */
  readonly #wholes = new Map<number, string>();

  constructor(reader: HistoryReader, { index, number }: IndexedCommit) {
    [this.#reader, this.#index] = [reader, index];
    this.#all = reachable(index, number);
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** The commits that confirmed a record at one of some paths, or a part of it. */
  of(paths: ReadonlySet<string>, section?: string): readonly Confirming[] {
    const isAbout = (one: Confirming) =>
      section === undefined || one.section === undefined || isSameTitle(one.section, section);
    return this.#all.filter((one) => paths.has(one.path) && isAbout(one));
  }

  /**
   * The last commit that confirmed a record or section as it is in a text, on its own or as a part of a
   * larger one; undefined if none did.
   *
   * @param text of the whole record.
   * @param isWanted leaves out other commits.
   */
  ofText(
    { path, section }: RecordAddress,
    text: string,
    isWanted = (_commit: number) => true,
  ): number | undefined {
    if (this.isEmpty) return undefined;
    const whole = confirmedText(text);
    const all = this.#all.filter(({ commit }) => isWanted(commit));
    if (section === undefined) return all.find((one) => one.text === whole)?.commit;
    const part = namedSections(text).find((one) => one.path === section);
    return part && this.#ofSection(all, path, text, part, whole);
  }

  /** The sections of a text, each with the last commit that confirmed it as it is, if one did. */
  inText(
    path: string,
    text: string,
  ): readonly { readonly section: NamedSection; readonly commit: number | undefined }[] {
    if (this.isEmpty) return [];
    const whole = confirmedText(text);
    return namedSections(text).map((section) => {
      return { section, commit: this.#ofSection(this.#all, path, text, section, whole) };
    });
  }

  #ofSection(
    all: readonly Confirming[],
    path: string,
    text: string,
    section: NamedSection,
    whole: string,
  ): number | undefined {
    const hashes = new Set([whole]);
    for (let at: NamedSection | undefined = section; at; at = at.parent) {
      hashes.add(confirmedText(text.slice(at.start, at.end)));
    }
    const own = plain(text.slice(section.start, section.end));
    const hasPart = (one: Confirming) =>
      one.section === undefined && one.path === path && this.#wholeAt(one).includes(own);
    return all.find((one) => hashes.has(one.text) || hasPart(one))?.commit;
  }

  /** The text of a confirmed record; empty if the commit does not have it as it was confirmed. */
  #wholeAt({ commit, path, text }: Confirming): string {
    const known = this.#wholes.get(commit);
    if (known !== undefined) return known;
    const { oid } = this.#index.commit(commit);
    const blob = this.#reader.history.blob(oid, path);
    const found = blob === undefined ? '' : this.#reader.versions.text(path, blob);
    const whole = confirmedText(found) === text ? plain(found) : '';
    this.#wholes.set(commit, whole);
    return whole;
  }
}

/** Whether two names are those of one section: a title needs neither its date nor the headings around it. */
function isSameTitle(one: string, other: string): boolean {
  const titleOf = (name: string) => folded(withoutDate(name.split(joint).at(-1) ?? ''));
  return titleOf(one) === titleOf(other);
}

function plain(text: string): string {
  return text.replaceAll('\r\n', '\n').trim();
}

function reachable(index: ChangeIndex, number: number): readonly Confirming[] {
  if (index.confirming.length === 0) return [];
  const known = kept.get(index);
  if (known?.number === number) return known.found;
  const isOlder = ancestors(index, number);
  const found = index.confirming
    .filter((commit) => isOlder[commit])
    .sort((a, b) => index.compare(a, b))
    .flatMap((commit) =>
      index.commit(commit).confirms.map(({ text, address }) => {
        return { commit, text, ...parseAddress(address) };
      }),
    );
  kept.set(index, { number, found });
  return found;
}
