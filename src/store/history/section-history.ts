import { Sections } from '../../core/markdown/section-statements.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { HistoryReader } from './history-reader.ts';
import type { Origin, Step, Track } from './lineage.ts';

/**
 * Returns the changes of a record that changed one section of it.
 *
 * @param changes of the record, the newest first.
 * @throws MemoryError `not_found` for a section that no version has.
 */
export function stepsOfSection(
  reader: HistoryReader,
  changes: readonly Step[],
  name: string,
): readonly Step[] {
  const last = changes.find(({ blob }) => blob !== undefined);
  const text = last && reader.versions.read(last.path, last.blob)?.text;
  const sections = new Sections(last?.path ?? '', text ?? '');
  const found = sections.find(name);
  const history = new SectionHistory(reader, found ? sections.nameOf(found) : name);
  const own = changes.filter((step) => history.isChangedBy(step));
  // A section that was removed is known by its earlier versions only.
  if (own.length === 0) sections.at(name);
  return own;
}

/**
 * Finds the version of a record from which a section was removed.
 *
 * @param changes of the record, the newest first.
 * @returns undefined if the record has the section.
 * @throws MemoryError `not_found` for a section that no version has.
 */
export function lastWithSection(
  reader: HistoryReader,
  changes: readonly Step[],
  name: string,
): Origin | undefined {
  const [last] = stepsOfSection(reader, changes, name);
  const has = ({ path, blob }: Track) =>
    blob !== undefined &&
    new Sections(path, reader.versions.read(path, blob)?.text ?? '').find(name) !== undefined;
  return last && !has(last) ? last.origins?.find(has) : undefined;
}

/** The text of one section in the versions of a record. */
class SectionHistory {
  readonly #reader: HistoryReader;
  readonly #name: string;
  /** Texts by blob; undefined for a version without the section. */
  readonly #texts = new Map<Oid, string | undefined>();

  /** @param name as the latest version has it: a section of another name is another one. */
  constructor(reader: HistoryReader, name: string) {
    this.#reader = reader;
    this.#name = name;
  }

  /** Whether a commit has changed the section: its text is not that of a version before. */
  isChangedBy({ path, blob, origins }: Step): boolean {
    const now = this.#textOf(path, blob);
    const before = (origins ?? []).map((origin) => this.#textOf(origin.path, origin.blob, now));
    return before.length === 0 ? now !== undefined : before.every((text) => text !== now);
  }

  /** @param known the text in a later version, which most versions have too. */
  #textOf(path: string, blob: Oid | undefined, known?: string): string | undefined {
    if (blob === undefined) return undefined;
    if (!this.#texts.has(blob)) {
      const { text = '' } = this.#reader.versions.read(path, blob) ?? {};
      const isSame = known !== undefined && hasSection(text, known);
      this.#texts.set(blob, isSame ? known : sectionIn(path, text, this.#name));
    }
    return this.#texts.get(blob);
  }
}

/** Finds out without a parser whether a text has a section as it is: a heading or the end follows. */
function hasSection(text: string, section: string): boolean {
  const at = text.indexOf(section);
  if (at < 0 || (at > 0 && text[at - 1] !== '\n')) return false;
  const [, level = ''] = /^(#{1,6})[ \t]/.exec(section) ?? [];
  if (level === '' || /^(?:`{3}|~{3})/m.test(text)) return false;
  const next = new RegExp(`\\s*(?:$|\\n#{1,${level.length}}[ \\t])`, 'y');
  next.lastIndex = at + section.length;
  return next.test(text);
}

function sectionIn(path: string, text: string, name: string): string | undefined {
  const found = new Sections(path, text).find(name);
  return found && text.slice(found.start, found.end).trimEnd();
}
