import type { CommitInfo } from '../../core/memory/commit-log.ts';
import type { Author } from '../../core/memory/session.ts';
import type { Confirmed, Provenance } from '../../core/memory/store.ts';
import type { RecordAddress } from '../../core/names/record-address.ts';
import type { Commit, Oid, Signature } from '../../git/objects/object.ts';
import { oidPattern } from '../../git/objects/object-format.ts';
import {
  isMemoryMessage,
  messageFor,
  partsOf,
  squashedMessages,
  valuesOf,
} from './message-parts.ts';

/** The origin of a change. */
export interface Actor {
  /** The tool's wire name. */
  readonly tool: string;
  /** Name and version of the client, if it sent them. */
  readonly agent: string | undefined;
  /** The author of the commit; undefined for the one of git's configuration. */
  readonly author?: Author | undefined;
  readonly session: string;
  readonly mode: string | undefined;
  /** The commit of the code, for a memory that is apart from it. */
  readonly code?: Oid | undefined;
}

/** Name of the trailer of a confirmation. */
const confirmedName = 'Confirmed';

export const maxSubject = 72;
export const maxReason = 4000;
export const maxTrailer = 200;
/** Limit of a trailer with the address of a record, which has to be complete. */
const maxAddressTrailer = 1200;
export const maxRecords = 20;

/**
 * Builds the message of a commit: subject, reason, and trailers that `git interpret-trailers --parse` reads.
 *
 * Nothing that a caller sends can add a line to the subject or a trailer of its own: the trailers
 * are the last paragraph, each on one line, and the reason cannot end the message early.
 *
 * @param records paths of the changed records, relative to `.memory-bank/`.
 */
export function commitMessage(why: Provenance, records: readonly string[], actor: Actor): string {
  const { confirms } = why;
  const trailers: (readonly [name: string, value: string | undefined])[] = [
    ['Tool', actor.tool],
    ...listed(records).map((record) => ['Record', record] as const),
    ['Agent', actor.agent],
    ['Session', actor.session],
    ['Mode', actor.mode],
    ['Code', actor.code],
    ...Object.entries(why.trailers ?? {}),
    [confirmedName, confirms && `${confirms.text} ${confirms.address}`],
  ];
  const lines = trailers.flatMap(([name, value]) => {
    const limit = name === confirmedName ? maxAddressTrailer : maxTrailer;
    const text = cut(oneLine(value ?? ''), limit);
    return text === '' ? [] : [`Memory-${name}: ${text}`];
  });
  const subject = cutAtWord(`memory: ${oneLine(why.subject)}`, maxSubject);
  const given = paragraphs(why.reason ?? '');
  // The subject ends in the description of a progress note, which is also its reason.
  const isRepeated = subject.endsWith(`: ${given}`) || subject.includes(`: ${given} (`);
  const reason = isRepeated ? '' : given;
  return [subject, '', ...(reason === '' ? [] : [reason, '']), ...lines, ''].join('\n');
}

/** Limits of a squash message, so that it fits a screen: listed commits, characters of a reason, values of a trailer. */
const maxListed = 12;
const maxReasonLine = 100;
const maxValues = 5;

/** A commit that becomes part of a squash. */
export interface SquashedCommit {
  readonly oid: Oid;
  readonly commit: Commit;
}

/**
 * Builds the message of a squash: what its commits did and why, as a list, and their trailers.
 *
 * @param commits oldest first.
 * @param records paths of the records that they changed, relative to `.memory-bank/`.
 * @param given a message of the user, instead of the list.
 */
export function squashMessage(
  commits: readonly SquashedCommit[],
  records: readonly string[],
  given?: string,
): string {
  // The files that the first write creates say nothing about what was learned.
  const learned = records.filter((record) => !/^(?:config\.yaml|\.gitattributes)$/.test(record));
  const names = learned.slice(0, 2).map((record) => record.split('/').pop() ?? '');
  const more = learned.length > 2 ? ` and ${learned.length - 2} more` : '';
  const [first = '', ...rest] = (given ?? '').trim().split('\n');
  const subject =
    given === undefined
      ? `memory: squash ${commits.length} changes of ${names.join(', ')}${more}`
      : oneLine(first);
  const body = given === undefined ? summary(commits).join('\n') : paragraphs(rest.join('\n'));
  const trailers = squashTrailers(commits, records);
  const parts = [...(body === '' ? [] : [body, '']), ...trailers, ''];
  return [cutAtWord(subject, maxSubject), '', ...parts].join('\n');
}

/** The origin that commits name, which a person accepts. */
export interface Proposed extends Partial<Pick<Actor, 'agent' | 'session' | 'mode'>> {
  /** Why they were made; undefined if they do not say it. */
  readonly reason?: string;
}

/**
 * The origin of commits that a person accepts: their agents, sessions and reasons.
 *
 * @param commits oldest first.
 */
export function proposedBy(commits: readonly SquashedCommit[]): Proposed {
  const infos = commits.map(({ oid, commit }) => commitInfo(oid, commit));
  const [only, ...others] = infos;
  if (!only) return {};
  const reason =
    others.length > 0
      ? summary(commits).join('\n')
      : [only.subject.replace(/^memory: /, ''), only.reason ?? ''].join('\n\n').trim();
  const named = (['agent', 'session', 'mode'] as const).flatMap((name) => {
    const values = new Set(infos.flatMap((info) => info[name] ?? []));
    return values.size === 0 ? [] : [[name, [...values].join(', ')] as const];
  });
  return { reason, ...Object.fromEntries(named) };
}

/**
 * Builds the message of a commit with a part of the changes of others.
 *
 * @param commits oldest first; at least one.
 * @param records paths of the records of that part, relative to `.memory-bank/`.
 */
export function partMessage(
  commits: readonly SquashedCommit[],
  records: readonly string[],
): string {
  const [only, ...others] = commits;
  if (!only || others.length > 0) return squashMessage(commits, records);
  const { subject, reason } = partsOf(only.commit.message);
  return squashMessage(commits, records, `${subject}\n\n${reason}`);
}

/**
 * The subjects of commits as a list, oldest first, each with the first line of its reason. If there are
 * too many, the kinds that are rare are listed, such as decisions, and those that are frequent, such as
 * notes of progress, are counted.
 */
function summary(commits: readonly SquashedCommit[]): string[] {
  const entries = commits.flatMap(({ commit }) => {
    const { subject, reason } = partsOf(commit.message);
    const done = oneLine(subject).replace(/^memory: /, '');
    const [because = ''] = reason.split('\n', 1);
    // The list of an earlier squash says more than its subject.
    const items = reason.match(/^- .*(?:\n {2}.*)?$/gm);
    if (items && /^squash \d+ changes /.test(done)) return items.map((item) => item.slice(2));
    // A note of progress has its reason in the subject.
    return because === '' || done.includes(because)
      ? done
      : `${done}\n  ${cut(oneLine(because), maxReasonLine)}`;
  });
  const kinds = new Map<string, number>();
  for (const entry of entries) kinds.set(kindOf(entry), (kinds.get(kindOf(entry)) ?? 0) + 1);
  const listed = new Set<string>();
  let left = maxListed;
  for (const [kind, count] of [...kinds].sort(([, a], [, b]) => a - b)) {
    if (count > left) break;
    listed.add(kind);
    left -= count;
  }
  const lines = entries.filter((entry) => listed.has(kindOf(entry))).map((entry) => `- ${entry}`);
  const others = [...kinds].filter(([kind]) => !listed.has(kind));
  const counts = others.map(([kind, count]) => `${count} × ${kind}`);
  return counts.length === 0 ? lines : [...lines, cut(`- ${counts.join(', ')}`, maxTrailer)];
}

/** Returns the action that a subject names, without its object: `log decision`, `write`. */
function kindOf(subject: string): string {
  const [line = ''] = subject.split('\n', 1);
  const [named] = /^[a-z]+(?: [a-z]+){0,2}(?=: )/.exec(line) ?? [];
  if (named !== undefined) return named;
  return /^[a-z]+(?: [a-z]+)??(?= (?:"|\S*[./:A-Z])|$)/.exec(line)?.[0] ?? line;
}

function squashTrailers(
  commits: readonly SquashedCommit[],
  records: readonly string[],
): readonly string[] {
  const all = commits.flatMap(({ commit }) => partsOf(commit.message).trailers);
  // The squash has the records as the last commit left them.
  const code = all.findLast((line) => line.startsWith('Memory-Code: '));
  const trailers = all.filter((line) => !/^Memory-(?:Record|Code): /.test(line) || line === code);
  const [first, ...others] = new Set(commits.map(({ commit: { author } }) => person(author)));
  return bounded([
    ...new Set([
      ...listed(records).map((record) => `Memory-Record: ${record}`),
      ...trailers,
      ...others.filter((other) => other !== first).map((other) => `Co-authored-by: ${other}`),
    ]),
  ]);
}

/** The trailers of ours that a squash keeps all. */
const unbounded: ReadonlySet<string> = new Set(['Memory-Record', `Memory-${confirmedName}`]);

/** Trailers with only the first few values of each of ours; every author stays. */
function bounded(trailers: readonly string[]): string[] {
  const counts = new Map<string, number>();
  return trailers.filter((line) => {
    const name = line.slice(0, line.indexOf(':'));
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return !name.startsWith('Memory-') || unbounded.has(name) || count <= maxValues;
  });
}

/**
 * Describes a commit, from its message and signatures.
 *
 * A squash can have several agents and tools; they are listed, separated by commas.
 *
 * @param of the record that the commit is looked at for: of a squash, its own commit is described.
 */
export function commitInfo(
  oid: Oid,
  { author, committer, message }: Commit,
  of?: RecordAddress,
): CommitInfo {
  const squashed = squashedMessages(message);
  const own = (of && messageFor(squashed, of)) ?? message;
  const { subject, reason, trailers: ownTrailers } = partsOf(own);
  const isWhole = own === message && squashed.length > 0;
  const trailers = isWhole ? squashed.flatMap((text) => partsOf(text).trailers) : ownTrailers;
  const named = (['agent', 'tool', 'session', 'mode'] as const).flatMap((name) => {
    const values = new Set(valuesOf(trailers, name));
    return values.size === 0 ? [] : [[name, [...values].join(', ')] as const];
  });
  return {
    oid,
    at: timeOf(committer),
    author: person(author),
    subject: oneLine(subject),
    ...(reason !== '' && { reason }),
    ...Object.fromEntries(named),
    ...(isAcceptance(own) && { isAcceptance: true as const }),
  };
}

/** Whether a message is that of a merge that the memory made. */
export function isMemoryMerge(message: string): boolean {
  return isMemoryMessage(message) && /^Memory-Merged: /m.test(message);
}

/**
 * Whether a message is that of a commit by which a person accepted changes of agents.
 *
 * A squash also has the trailers of its commits, under another subject.
 */
export function isAcceptance(message: string): boolean {
  if (!isMemoryMessage(message) || !message.startsWith('memory: accept ')) return false;
  return partsOf(message).trailers.some((line) => reviewedLine.test(line));
}

const confirmedLine = new RegExp(`^Memory-${confirmedName}: ([0-9a-f]{32}) (\\S.*)$`);

/** Returns what a message says that a person has confirmed; a squash can have several confirmations. */
export function confirmationsIn(message: string): readonly Confirmed[] {
  if (!message.includes(`\nMemory-${confirmedName}: `)) return [];
  const squashed = squashedMessages(message);
  return (squashed.length > 0 ? squashed : [message]).flatMap((text) => {
    const { trailers } = partsOf(text);
    if (!trailers.some((line) => /^Memory-Tool: /.test(line))) return [];
    return trailers.flatMap((line) => {
      const [, text, address] = confirmedLine.exec(line) ?? [];
      return text === undefined || address === undefined ? [] : [{ text, address }];
    });
  });
}

const reviewedLine = new RegExp(`^Memory-Reviewed: ${oidPattern}`);
const codeLine = new RegExp(`^Memory-Code: (${oidPattern})$`, 'm');

/** The commit of the code at which a change of the memory was made; undefined if the message names none. */
export function codeCommitOf(message: string): Oid | undefined {
  return codeLine.exec(message)?.[1];
}

/** A message with the commit of the code at which the change was made. */
export function withCodeCommit(message: string, commit: Oid): string {
  if (codeCommitOf(message) !== undefined) return message;
  const gap = partsOf(message).trailers.length > 0 ? '' : '\n';
  return `${message.trimEnd()}\n${gap}Memory-Code: ${commit}\n`;
}

function person({ name, email }: Signature): string {
  return email === '' ? name : `${name} <${email}>`;
}

function timeOf({ seconds }: Signature): string {
  return new Date(seconds * 1000).toISOString();
}

function listed(records: readonly string[]): string[] {
  if (records.length <= maxRecords) return [...records];
  const rest = records.length - maxRecords + 1;
  return [...records.slice(0, maxRecords - 1), `(and ${rest} more)`];
}

/** A text on one line, without control and direction characters. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
}

function paragraphs(text: string): string {
  const lines = text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, '')
    .split('\n');
  const whole = lines.map((line) => line.trimEnd()).join('\n');
  const given = whole
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    // Programs that read patches end a message at a line that starts with one of these.
    .replace(/^(?:---|diff -|Index: )/gm, ' $&')
    // In the message of a squash such a line begins another commit.
    .replace(/^ *((?:[*-] )?memory: )/gm, ' $1');
  return cut(given, maxReason);
}

function cut(text: string, limit: number): string {
  const points = [...text];
  return points.length <= limit
    ? text
    : `${points
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`;
}

/** Cuts a text to a number of characters, after a whole word unless that would cut half of it away. */
function cutAtWord(text: string, limit: number): string {
  const short = cut(text, limit);
  if (short === text) return text;
  const begun = short.slice(0, -1);
  const end = text.charAt(begun.length) === ' ' ? begun.length : begun.lastIndexOf(' ');
  if (end < begun.length / 2) return short;
  return `${begun.slice(0, end).replace(/[\s,;:(–—-]+$/, '')}…`;
}
