import { lineNumber } from '../../core/markdown/line.ts';
import { outline, type Section } from '../../core/markdown/sections.ts';
import { dateOf, withoutDate } from '../../core/markdown/title-date.ts';
import { addTo } from '../../core/values/multimap.ts';
import { compareTexts } from '../../core/values/text-order.ts';
import {
  dayOfName,
  type EntryFile,
  EntryNames,
  type EntryPlace,
  exactFiles,
  joined,
  type LogFiles,
  lineInFile,
  placeIn,
  trimmed,
} from './entry-files.ts';

/** A decision, with the heading that names it. */
interface Decision {
  readonly heading: string;
  readonly text: string;
  /** Its offset in the text that it is from. */
  readonly start: number;
}

/** A decision of a file; `at` is its position in the file, `line` the number of its first line there. */
interface Filed extends Decision, ReturnType<typeof dayOfName> {
  readonly file: EntryFile;
  readonly at: number;
  readonly line: number;
}

/** Composes the log from its files: its own text, and the decisions with files by their days. */
export function composeDecisions({ own = '', entries }: LogFiles): string {
  const filed = entries.flatMap(decisionsOf);
  if (filed.length === 0) return own;
  const known = new Set(filed.map(({ text }) => text));
  const sorted = filed.sort(
    (a, b) =>
      compareTexts(a.day, b.day) || a.number - b.number || compareTexts(a.file.name, b.file.name),
  );
  // After a merge of both layouts, the log can have a decision that has a file.
  const rest = without(own, ({ text }) => known.has(text));
  const end = endOfLog(rest);
  return joined([rest.slice(0, end), ...sorted.map(({ text }) => text), rest.slice(end)]);
}

/**
 * Divides a log into files, so that they are composed to the same text; a decision that has a file keeps
 * it.
 *
 * Decisions in another order than that of their days, or with other blank lines, stay in the log.
 */
export function splitDecisions(text: string, before: LogFiles): LogFiles {
  return exactFiles(
    text,
    before,
    (...how) => filedDecisions(text, before, ...how),
    composeDecisions,
  );
}

/**
 * Gives the dated decisions of a log files.
 *
 * @param isKept whether those that are in the log stay there.
 * @param isOrdered whether files get other names where that keeps the order of the text.
 */
export function filedDecisions(
  text: string,
  before: LogFiles,
  isKept = false,
  isOrdered = false,
): LogFiles {
  const own = before.own ?? '';
  const all = sectionsOf(text).map((section) => toDecision(text, section));
  const found = matched(all, before.entries.flatMap(decisionsOf));
  const kept = new Map<string, (Decision & { readonly at: number })[]>();
  for (const [decision, { file, at }] of found) {
    addTo(kept, file.name, { ...decision, at });
  }
  const entries = before.entries.flatMap((file): EntryFile[] => {
    const now = kept.get(file.name)?.sort((a, b) => a.at - b.at);
    if (!now) return [];
    const texts = now.map((one) => one.text);
    const old = decisionsOf(file).map((one) => one.text);
    const same = texts.length === old.length && texts.every((one, at) => one === old[at]);
    return [same ? file : { name: file.name, text: joined(texts) }];
  });
  const names = new EntryNames(before.entries.map(({ name }) => name));
  const stays = new Set(isKept ? sectionsOf(own).map(({ heading }) => heading) : []);
  const left = new Set(
    before.entries.length === 0 ? [] : sectionsOf(own).map((one) => toDecision(own, one).text),
  );
  const added = new Set<Decision>();
  for (const decision of all) {
    const isNew = !found.has(decision) && !stays.has(decision.heading);
    const day = isNew ? dateOf(decision.heading) : undefined;
    if (day === undefined) continue;
    added.add(decision);
    const title = withoutDate(decision.heading);
    const name = names[left.has(decision.text) ? 'addLeft' : 'add'](day, title, decision.text);
    entries.push({ name, text: decision.text });
  }
  if (isOrdered) inOrder(all, entries, names);
  const starts = new Set([...found.keys(), ...added].map(({ start }) => start));
  const rest = without(text, ({ start }) => starts.has(start));
  const end = endOfLog(own);
  return { own: joined([own.slice(0, end), own.slice(end)]) === rest ? own : rest, entries };
}

/** Gives the files of decisions that come after later ones of their day other names. */
function inOrder(all: readonly Decision[], entries: EntryFile[], names: EntryNames): void {
  const places = new Map(
    entries.flatMap((file, at) => decisionsOf(file).map(({ text }) => [text, at] as const)),
  );
  const last = new Map<string, number>();
  for (const { heading, text } of all) {
    const at = places.get(text);
    const file = at === undefined ? undefined : entries[at];
    if (at === undefined || !file) continue;
    const { day, number } = dayOfName(file.name);
    const isLater = number > (last.get(day) ?? 0);
    const name = isLater ? file.name : names.add(day, withoutDate(heading), text);
    entries[at] = { name, text: file.text };
    last.set(day, dayOfName(name).number);
  }
}

/** Finds the file of each decision: first one with the same text, then one with the same heading. */
function matched(all: readonly Decision[], filed: readonly Filed[]): ReadonlyMap<Decision, Filed> {
  const found = new Map<Decision, Filed>();
  const used = new Set<Filed>();
  for (const key of ['text', 'heading'] as const) {
    const open = new Map<string, Filed[]>();
    for (const one of filed) if (!used.has(one)) addTo(open, one[key], one);
    for (const decision of all) {
      const match = found.has(decision) ? undefined : open.get(decision[key])?.shift();
      if (!match) continue;
      found.set(decision, match);
      used.add(match);
    }
  }
  return found;
}

/** The lines of the dated decisions of a log that have no file of their own. */
export function decisionsInLog(own: string): readonly number[] {
  return sectionsOf(own)
    .filter(({ heading }) => dateOf(heading) !== undefined)
    .map(({ start }) => lineNumber(own, start));
}

/** The decisions of a file; what it has before the first heading gets the name of the file as one. */
function decisionsOf(file: EntryFile): readonly Filed[] {
  const found = parsed.get(file) ?? parse(file);
  parsed.set(file, found);
  return found;
}

const parsed = new WeakMap<EntryFile, readonly Filed[]>();

function parse(file: EntryFile): Filed[] {
  let text = trimmed(file.text.replace(/^\uFEFF/, ''));
  for (const { level, heading, start, bodyStart } of outline(text).reverse()) {
    if (level !== 1) continue;
    text = `${text.slice(0, start)}## ${heading}\n${text.slice(bodyStart)}`;
  }
  const [first] = outline(text);
  const hasNone = first?.level !== 2 || first.start !== 0;
  if (hasNone) text = `## ${titleOfName(file.name)}\n\n${text}`;
  return sectionsOf(text).map((section, at) => {
    const line = lineInFile(file.text, lineNumber(text, section.start) - (hasNone ? 2 : 0));
    return { ...toDecision(text, section), ...dayOfName(file.name), file, at, line };
  });
}

/** Finds the decision of a file that a line of the log is in. */
export function decisionAt(
  log: string,
  entries: readonly EntryFile[],
  line: number,
): EntryPlace | undefined {
  const section = sectionsOf(log).findLast(({ start }) => lineNumber(log, start) <= line);
  const decision = section && toDecision(log, section);
  if (!decision) return undefined;
  const found = entries.flatMap(decisionsOf).find(({ text }) => text === decision.text);
  return found && placeIn(found.file, log, decision, line, found.line);
}

function titleOfName(name: string): string {
  const base = name.slice(name.lastIndexOf('/') + 1).replace(/\.md$/, '');
  const { day } = dayOfName(base);
  const title = base.slice(day.length).replace(/^-/, '').replaceAll('-', ' ') || 'Untitled';
  return day === '' ? title : `${title} - ${day}`;
}

/** The text without some of its decisions. */
function without(text: string, isTaken: (one: Decision) => boolean): string {
  const parts: string[] = [];
  let from = 0;
  for (const section of sectionsOf(text)) {
    if (!isTaken(toDecision(text, section))) continue;
    parts.push(text.slice(from, section.start));
    from = section.end;
  }
  return parts.length === 0 ? text : joined([...parts, text.slice(from)]);
}

/** The sections of level 2 below the first heading of level 1, or all without one. */
function sectionsOf(text: string): Section[] {
  const all = outline(text);
  const [first, second] = all.filter(({ level }) => level === 1);
  const [from, to] = [first?.start ?? 0, second?.start ?? text.length];
  return all.filter(({ level, start }) => level === 2 && start >= from && start < to);
}

/** Where new decisions begin: before a second heading of level 1, which begins another part. */
function endOfLog(text: string): number {
  return outline(text).filter(({ level }) => level === 1)[1]?.start ?? text.length;
}

function toDecision(text: string, { heading, start, end }: Section): Decision {
  return { heading, start, text: trimmed(text.slice(start, end)) };
}
