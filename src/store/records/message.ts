import type { CommitInfo } from '../../core/history.ts';
import type { Provenance } from '../../core/store.ts';
import type { Commit, Oid, Signature } from '../../git/objects/object.ts';

/** The origin of a change. */
export interface Actor {
  /** The tool's wire name. */
  readonly tool: string;
  /** Name and version of the client, if it sent them. */
  readonly agent: string | undefined;
  readonly session: string;
  readonly mode: string | undefined;
}

const maxSubject = 72;
const maxReason = 4000;
const maxTrailer = 200;
const maxRecords = 20;

/**
 * Builds the message of a commit: subject, reason, and trailers that `git interpret-trailers --parse` reads.
 *
 * Nothing that a caller sends can add a line to the subject or a trailer of its own: the trailers
 * are the last paragraph, each on one line, and the reason cannot end the message early.
 *
 * @param records paths of the changed records, relative to `.memory-bank/`.
 */
export function commitMessage(why: Provenance, records: readonly string[], actor: Actor): string {
  const trailers: (readonly [name: string, value: string | undefined])[] = [
    ['Tool', actor.tool],
    ...listed(records).map((record) => ['Record', record] as const),
    ['Agent', actor.agent],
    ['Session', actor.session],
    ['Mode', actor.mode],
    ...Object.entries(why.trailers ?? {}),
  ];
  const lines = trailers.flatMap(([name, value]) => {
    const text = cut(oneLine(value ?? ''), maxTrailer);
    return text === '' ? [] : [`Memory-${name}: ${text}`];
  });
  const subject = cut(`memory: ${oneLine(why.subject)}`, maxSubject);
  const reason = paragraphs(why.reason ?? '');
  return [subject, '', ...(reason === '' ? [] : [reason, '']), ...lines, ''].join('\n');
}

/**
 * Builds the message of a squash: all messages, as `git merge --squash` lists them, and their trailers.
 *
 * @param commits oldest first.
 * @param records paths of the records that they changed, relative to `.memory-bank/`.
 */
export function squashMessage(
  commits: readonly { readonly oid: Oid; readonly commit: Commit }[],
  records: readonly string[],
): string {
  const messages = commits.map(({ oid, commit: { author, message } }) => {
    const lines = message.trimEnd().split('\n');
    return [
      `commit ${oid}`,
      `Author: ${person(author)}`,
      `Date:   ${timeOf(author)}`,
      '',
      ...lines.map((line) => `    ${line}`.trimEnd()),
      '',
    ].join('\n');
  });
  const trailers = commits
    .flatMap(({ commit }) => partsOf(commit.message).trailers)
    .filter((line) => !line.startsWith('Memory-Record: '));
  const [first, ...others] = new Set(commits.map(({ commit: { author } }) => person(author)));
  const lines = new Set([
    ...listed(records).map((record) => `Memory-Record: ${record}`),
    ...trailers,
    ...others.filter((other) => other !== first).map((other) => `Co-authored-by: ${other}`),
  ]);
  return [`memory: squash ${commits.length} changes`, '', ...messages, ...lines, ''].join('\n');
}

/**
 * Describes a commit, from its message and signatures.
 *
 * A squash can have several agents and tools; they are listed, separated by commas.
 */
export function commitInfo(oid: Oid, { author, committer, message }: Commit): CommitInfo {
  const { subject, reason, trailers } = partsOf(message);
  const named = (['agent', 'tool', 'session', 'mode'] as const).flatMap((name) => {
    const key = `Memory-${name.charAt(0).toUpperCase()}${name.slice(1)}: `;
    const values = trailers.filter((line) => line.startsWith(key));
    return values.length === 0
      ? []
      : [[name, values.map((line) => line.slice(key.length)).join(', ')] as const];
  });
  return {
    oid,
    at: timeOf(committer),
    author: person(author),
    subject: oneLine(subject),
    ...(reason !== '' && { reason }),
    ...Object.fromEntries(named),
  };
}

/** The parts of a message; only its last paragraph can hold trailers. */
function partsOf(message: string) {
  const [subject = '', ...rest] = message.trim().split(/\n(?:[ \t]*\n)+/);
  const last = rest.at(-1)?.split('\n') ?? [];
  const trailers = last.every((line) => /^[A-Za-z][\w-]*: /.test(line)) ? last : [];
  if (trailers.length > 0) rest.pop();
  return { subject, reason: rest.join('\n\n'), trailers };
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
    .split('\n')
    // Programs that read patches end a message at a line that starts with one of these.
    .map((line) => (/^(---|diff -|Index: )/.test(line) ? ` ${line}` : line).trimEnd());
  return cut(
    lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    maxReason,
  );
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
