import { nearestNames } from '../names/nearest-name.ts';
import { type ErrorCode, MemoryError } from '../values/error.ts';
import { Anchors } from './anchors.ts';
import { folded, joint, type NamedSection, namedSections } from './section-path.ts';
import { plain } from './sections.ts';
import { withoutDate } from './title-date.ts';

/** Limit of the sections that an error names. */
const mostNamed = 5;

/** The marks of a heading, which a reader may have copied with it. */
const marks = /^\s*#{1,6}\s+/;

/** Limit of the texts whose sections are kept: the steps of a change look into few texts, each of them often. */
const maxRecent = 2;
const recent = new Map<string, SectionNames>();

/** Returns the sections of a text; those of the last texts are kept. */
export function sectionNamesOf(text: string): SectionNames {
  const names = recent.get(text) ?? new SectionNames(text);
  recent.delete(text);
  recent.set(text, names);
  const [oldest] = recent.keys();
  if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
  return names;
}

/** Finds the sections of a markdown text by every name that a reader may have for them. */
export class SectionNames {
  readonly all: readonly NamedSection[];
  /** Paths and their ends, as they are written; the first section that has one. */
  readonly #written = new Map<string, NamedSection>();
  readonly #anchors = new Map<string, NamedSection>();
  #bare: Map<string, NamedSection[]> | undefined;

  constructor(text: string) {
    this.all = namedSections(text);
    const anchors = new Anchors();
    for (const section of this.all) {
      this.#anchors.set(anchors.next(section.heading), section);
      const path = folded(section.path);
      for (const end of endsOf(path)) {
        // A whole path wins over the end of an earlier one.
        if (end === path || !this.#written.has(end)) this.#written.set(end, section);
      }
    }
  }

  /** Entries of all anchors, by which links in a text name sections. */
  get anchors(): Iterable<readonly [string, NamedSection]> {
    return this.#anchors;
  }

  /**
   * Finds a section by its path or the end of it, by its anchor, or by its title without the date.
   *
   * The end of a path names the first section that it fits; a title without its date names a section
   * only if no other one has it.
   */
  find(wanted: string): NamedSection | undefined {
    const name = wanted.replace(marks, '');
    const written = this.#written.get(folded(name)) ?? this.#anchors.get(wanted.toLowerCase());
    if (written) return written;
    const [only, ...others] = this.#titled(name);
    return others.length === 0 ? only : undefined;
  }

  /** All sections that a title or path names: one, unless several have it. */
  titled(wanted: string): readonly NamedSection[] {
    const name = wanted.replace(marks, '');
    const written = this.all.filter(({ path }) => endsOf(folded(path)).includes(folded(name)));
    return written.length > 0 ? written : this.#titled(name);
  }

  /**
   * Finds a section that must exist.
   *
   * @param source names the text in the error, such as a path.
   * @throws MemoryError with the code, and the names of the sections that are most like the wanted one.
   */
  at(wanted: string, code: ErrorCode, source?: string): NamedSection {
    const found = this.find(wanted);
    if (found) return found;
    const title = JSON.stringify(wanted.length > 300 ? `${wanted.slice(0, 300)}…` : wanted);
    const where = source === undefined ? 'There is' : `${source} has`;
    const data = source === undefined ? {} : { data: { path: source } };
    const titled = this.titled(wanted);
    if (titled.length > 0) {
      const message = `${where.replace('There is', 'There are')} ${titled.length} sections ${title}.`;
      const hint = `Give one with its date, or its whole path: ${named(newestFirst(titled))}.`;
      throw new MemoryError(code, message, { hint, ...data });
    }
    throw new MemoryError(code, `${where} no section ${title}.`, {
      hint: this.#hint(wanted),
      ...data,
    });
  }

  /** The shortest name by which `find` finds a section. */
  nameOf(section: NamedSection): string {
    const name = section.path.split(joint).at(-1) ?? section.path;
    return this.find(name) === section ? name : section.path;
  }

  /** The sections that have a path or the end of one, compared without dates and inline markdown. */
  #titled(name: string): readonly NamedSection[] {
    this.#bare ??= barePaths(this.all);
    return this.#bare.get(name.split(joint).map(plain).join(joint)) ?? [];
  }

  #hint(wanted: string): string {
    const { all } = this;
    if (all.length === 0) return 'The text has no headings.';
    if (all.length <= mostNamed) return `The sections are: ${named(all)}.`;
    const isPath = wanted.includes(joint);
    const titleOf = ({ path, heading }: NamedSection) => (isPath ? path : withoutDate(heading));
    // Of equally close ones, a decision says more than a part of one.
    const shallow = all.toSorted((a, b) => a.level - b.level);
    const nearest = nearestNames(wanted, shallow, titleOf).slice(0, mostNamed);
    return `The nearest of its ${all.length} sections are: ${named(nearest)}.`;
  }
}

/** Returns a path and each end of it that begins with a heading. */
function endsOf(path: string): string[] {
  const ends = [path];
  for (let at = path.indexOf(joint); at >= 0; at = path.indexOf(joint, at + 1)) {
    ends.push(path.slice(at + joint.length));
  }
  return ends;
}

/** Returns the sections by their paths, and the ends of these, without dates and inline markdown. */
function barePaths(all: readonly NamedSection[]): Map<string, NamedSection[]> {
  const found = new Map<string, NamedSection[]>();
  const paths = new Map<NamedSection, string>();
  for (const section of all) {
    const above = section.parent && paths.get(section.parent);
    const heading = plain(withoutDate(section.heading));
    const path = above === undefined ? heading : `${above}${joint}${heading}`;
    paths.set(section, path);
    for (const end of endsOf(path)) {
      const named = found.get(end);
      if (named) named.push(section);
      else found.set(end, [section]);
    }
  }
  return found;
}

function newestFirst(sections: readonly NamedSection[]): readonly NamedSection[] {
  const dayOf = ({ heading }: NamedSection) => /\d{4}-\d\d-\d\d[\d:T .]*/.exec(heading)?.[0] ?? '';
  return sections.toSorted((a, b) => (dayOf(a) < dayOf(b) ? 1 : dayOf(a) > dayOf(b) ? -1 : 0));
}

function named(sections: readonly NamedSection[]): string {
  return sections
    .slice(0, mostNamed)
    .map(({ path }) => JSON.stringify(path))
    .join(', ');
}
