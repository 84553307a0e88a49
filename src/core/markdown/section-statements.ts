import {
  type AnnotationChanges,
  type Annotations,
  formatGiven,
  inlineEvidence,
  mayHaveStatements,
  readAnnotations,
  replaceInline,
  statementLine,
  withAnnotations,
} from '../evidence/annotations.ts';
import { resolvedPath } from '../evidence/memory-links.ts';
import { formatAddress, parseAddress } from '../names/record-address.ts';
import { MemoryError } from '../values/error.ts';
import { anchorOf } from './anchors.ts';
import { type SectionNames, sectionNamesOf } from './section-names.ts';
import { folded, type NamedSection } from './section-path.ts';
import { withCitedMentions, withTextEvidence } from './text-evidence.ts';

/** A section of a markdown record that says what it replaces, or by which one it was replaced. */
export interface SectionStatements {
  readonly section: NamedSection;
  /** Addresses of the replaced sections and records. */
  readonly supersedes: readonly string[];
  /** The address of the replacement. */
  readonly supersededBy?: string | undefined;
}

const kinds = { supersedes: 'Supersedes', supersededBy: 'Superseded by' } as const;
type Kind = keyof typeof kinds;

/** A link of markdown, whose text can contain brackets after a backslash. */
const links = /\[(?:[^\][\\\n]|\\.){1,300}\]\(\s{0,3}<?([^\s<>()]{1,600})>?\)/g;
/** Limit of the statements of one text. */
const maxStatements = 1000;

/** The sections of a markdown record, with their addresses and what they say about each other. */
export class Sections {
  readonly #names: SectionNames;
  readonly #path: string;
  readonly #text: string;
  #statements: readonly SectionStatements[] | undefined;

  /** @param path the record's, to which links in its text are relative. */
  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    this.#names = sectionNamesOf(text);
  }

  get all(): readonly NamedSection[] {
    return this.#names.all;
  }

  /** Finds a section by its path or the end of it, its anchor, or its title without the date. */
  find(wanted: string): NamedSection | undefined {
    return this.#names.find(wanted);
  }

  /**
   * Finds a section that must exist.
   *
   * @throws MemoryError `not_found` with the nearest sections.
   */
  at(wanted: string): NamedSection {
    return this.#names.at(wanted, 'not_found', this.#path);
  }

  /** The shortest name by which `find` finds a section. */
  nameOf(section: NamedSection): string {
    return this.#names.nameOf(section);
  }

  /** The shortest address that `find` takes for a section. */
  addressOf(section: NamedSection): string {
    if (this.#isWhole(section)) return this.#path;
    return formatAddress({ path: this.#path, section: this.#names.nameOf(section) });
  }

  /** Whether a section is the whole record: its heading is the only one of the highest level. */
  #isWhole(section: NamedSection): boolean {
    return section.level === 1 && this.all.every((one) => one === section || one.level > 1);
  }

  /** The sections with statements. */
  statements(): readonly SectionStatements[] {
    this.#statements ??= mayHaveStatements(this.#text) ? this.#read() : [];
    return this.#statements;
  }

  /** The statements of one section. */
  statementsOf(section: NamedSection): SectionStatements {
    return this.statements().find((one) => one.section === section) ?? { section, supersedes: [] };
  }

  #read(): SectionStatements[] {
    const found = new Map<NamedSection, { supersedes: string[]; supersededBy?: string }>();
    let count = 0;
    let at = 0;
    for (const { index, 1: verb = '', 2: rest = '' } of this.#text.matchAll(statementLine)) {
      if (++count > maxStatements) break;
      // The lines are in the order of the sections.
      while ((this.all[at]?.bodyEnd ?? index + 1) <= index) at++;
      const section = this.#sectionAround(index, this.all[at]);
      const targets = section ? this.#targets(rest) : [];
      if (!section || targets.length === 0) continue;
      const known = found.get(section) ?? { supersedes: [] };
      found.set(section, known);
      if (kindOf(verb) === 'supersedes') known.supersedes.push(...targets);
      else known.supersededBy ??= targets[0] ?? '';
    }
    return [...found].map(([section, statements]) => ({ section, ...statements }));
  }

  /**
   * The section that a statement is about: a heading "Status" belongs to the section above.
   *
   * @param own the first section that does not end above the statement.
   */
  #sectionAround(index: number, own: NamedSection | undefined): NamedSection | undefined {
    if (!own || own.start > index) return undefined;
    return folded(own.heading) === 'status' ? own.parent : own;
  }

  /** The addresses that the rest of a statement names: links, or the title of another section. */
  #targets(rest: string): string[] {
    const linked = [...rest.matchAll(links)].flatMap(([, url = '']) => this.address(url) ?? []);
    if (linked.length > 0) return linked;
    const plain = rest.replace(/[*_.\s]+$/, '');
    const section = this.find(plain);
    if (section) return [this.addressOf(section)];
    return /^[\w./@+-]+\.(?:md|yaml)$/.test(plain) ? [plain] : [];
  }

  /** The address that the target of a link has; undefined for one that leads out of the memory. */
  address(url: string): string | undefined {
    if (/^[a-z][\w+.-]*:/i.test(url)) return undefined;
    const [file = '', anchor] = split(decoded(url));
    const path = file === '' ? this.#path : resolvedPath(this.#path, file);
    if (path === undefined || !/\.(?:md|yaml)$/.test(path)) return undefined;
    if (anchor === undefined) return file === '' ? undefined : path;
    const section = file === '' ? this.find(anchor) : undefined;
    return section ? this.addressOf(section) : formatAddress({ path, section: anchor });
  }

  /** The statement of the whole record, which can be below its title. */
  whole(): SectionStatements | undefined {
    return this.statements().find(({ section }) => this.#isWhole(section));
  }

  /** The text without superseded sections, and without the statements. */
  live(): string {
    let text = this.#text;
    const old = this.statements().filter(({ supersededBy }) => supersededBy !== undefined);
    for (const { section } of old.reverse()) {
      if (!this.#isWhole(section)) text = text.slice(0, section.start) + text.slice(section.end);
    }
    return text.replace(statementLine, '');
  }

  /** The text with other statements of one section, below its heading. */
  write(
    section: NamedSection,
    changes: Pick<AnnotationChanges, 'supersedes' | 'supersededBy'>,
  ): string {
    const before = this.#text.slice(0, section.bodyStart);
    const eol = this.#text.includes('\r\n') ? '\r\n' : '\n';
    let body = this.#text.slice(section.bodyStart, section.bodyEnd);
    for (const kind of ['supersededBy', 'supersedes'] as const) {
      const change = changes[kind];
      if (change === undefined) continue;
      body = withoutStatement(body, kind);
      const targets = typeof change === 'string' ? [change] : (change ?? []);
      if (targets.length === 0) continue;
      const line = `${kinds[kind]} ${targets.map((one) => this.#link(one)).join(', ')}`;
      const rest = body.replace(/^(?:[ \t]*\r?\n)+/, '');
      body = `${eol}${line}${eol}${rest === '' ? '' : eol}${rest}`;
    }
    const start = before.endsWith('\n') || before === '' ? before : before + eol;
    const after = this.#text.slice(section.bodyEnd);
    const gap = after !== '' && !/\n[ \t]*\r?\n$/.test(body) ? eol : '';
    return start + body + gap + after;
  }

  /** A link to an address, relative to the folder of this record. */
  #link(address: string): string {
    const { path, section } = parseAddress(address);
    const shown = (section ?? path).replace(/[[\]\\]/g, '\\$&');
    if (section === undefined) return `[${shown}](${relative(this.#path, path)})`;
    const own = path === this.#path ? this.find(section) : undefined;
    const anchor = own ? this.#anchorFor(own) : anchorOf(section);
    return `[${shown}](${own ? '' : relative(this.#path, path)}#${anchor})`;
  }

  #anchorFor(section: NamedSection): string {
    for (const [anchor, one] of this.#names.anchors) if (one === section) return anchor;
    return anchorOf(section.heading);
  }
}

/**
 * The annotations of a record or section.
 *
 * @throws MemoryError `not_found` for an unknown section.
 */
export function annotationsAt(address: string, text: string): Annotations {
  const { path, section } = parseAddress(address);
  if (section === undefined) return readStatements(path, text).annotations;
  const sections = new Sections(path, text);
  const found = sections.at(section);
  const { supersedes, supersededBy } = sections.statementsOf(found);
  const evidence = inlineEvidence(text.slice(found.start, found.end));
  return { evidence, supersedes, supersededBy };
}

/**
 * The text of a record or section.
 *
 * @throws MemoryError `not_found` for an unknown section.
 */
export function textAt(address: string, text: string): string {
  const { path, section } = parseAddress(address);
  if (section === undefined) return text;
  const { start, end } = new Sections(path, text).at(section);
  return text.slice(start, end);
}

/**
 * The one address of a record or section.
 *
 * @throws MemoryError `not_found` for an unknown section.
 */
export function addressIn(address: string, text: string): string {
  const { path, section } = parseAddress(address);
  if (section === undefined) return path;
  const sections = new Sections(path, text);
  return sections.addressOf(sections.at(section));
}

/**
 * Writes annotations of a record or section into the text of the record.
 *
 * @throws MemoryError `not_found`, `invalid_input` for annotations that only a whole record can have.
 */
export function annotated(address: string, text: string, changes: AnnotationChanges): string {
  const { path, section } = parseAddress(address);
  if (section === undefined) return withAnnotations(path, text, changes);
  const possible = ['evidence', 'mentioned', 'supersedes', 'supersededBy', 'renewed'];
  const other = Object.keys(changes).find((name) => !possible.includes(name));
  if (other !== undefined) {
    throw new MemoryError('invalid_input', `A section of ${path} cannot have ${other}.`, {
      hint: `Only a record as a whole can have it: give ${path}.`,
    });
  }
  const found = new Sections(path, text).at(section);
  const { renewed, evidence, mentioned, ...statements } = changes;
  let own = text.slice(found.start, found.end);
  if (renewed) own = replaceInline(own, (one) => renewed.get(formatGiven(one)));
  if (evidence !== undefined) own = withTextEvidence(own, evidence ?? []);
  if (mentioned) own = withCitedMentions(own, mentioned);
  const after = text.slice(found.end);
  const gap = own.endsWith('\n') || after === '' ? '' : '\n\n';
  const written = text.slice(0, found.start) + own + gap + after;
  if (Object.keys(statements).length === 0) return written;
  const again = new Sections(path, written);
  const same = again.find(section);
  return same ? again.write(same, statements) : written;
}

/** The annotations of a record, with statements about the whole record in its text. */
export function readStatements(path: string, text: string) {
  const annotations = readAnnotations(path, text);
  if (!path.endsWith('.md') || !mayHaveStatements(text))
    return { annotations, sections: undefined };
  const sections = new Sections(path, text);
  const whole = sections.whole();
  if (!whole) return { annotations, sections };
  const supersedes = [...new Set([...annotations.supersedes, ...whole.supersedes])];
  const supersededBy = annotations.supersededBy ?? whole.supersededBy;
  return { annotations: { ...annotations, supersedes, supersededBy }, sections };
}

function withoutStatement(body: string, kind: Kind): string {
  const lines = new RegExp(`${statementLine.source}\\r?\\n?`, statementLine.flags);
  return body.replace(lines, (line: string, verb: string) => (kindOf(verb) === kind ? '' : line));
}

function kindOf(verb: string): Kind {
  return /by$/i.test(verb) ? 'supersededBy' : 'supersedes';
}

function split(url: string): [file: string, anchor?: string] {
  const at = url.indexOf('#');
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

function relative(from: string, path: string): string {
  const [here, there] = [from.split('/').slice(0, -1), path.split('/')];
  let common = 0;
  while (common < here.length && here[common] === there[common]) common += 1;
  const up = here.slice(common).map(() => '..');
  return [...up, ...there.slice(common)].map(encodeURIComponent).join('/');
}

/** Where the sections begin that say by which one they were replaced. */
export function replacedSections(path: string, text: string): ReadonlySet<number> {
  if (!mayHaveStatements(text)) return new Set();
  const statements = new Sections(path, text).statements();
  return new Set(statements.flatMap((one) => (one.supersededBy ? [one.section.start] : [])));
}
