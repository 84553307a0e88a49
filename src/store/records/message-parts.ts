import type { RecordAddress } from '../../core/names/record-address.ts';

/** The parts of the message of a commit. */
export interface MessageParts {
  readonly subject: string;
  /** The paragraphs between the subject and the trailers. */
  readonly reason: string;
  /** Lines such as `Memory-Tool: log_decision`. */
  readonly trailers: readonly string[];
}

/**
 * Splits a message; its last paragraph can hold trailers.
 *
 * A code host that merges a single commit as one adds a paragraph of its own below the trailers of the memory,
 * such as `Co-authored-by`.
 */
export function partsOf(message: string): MessageParts {
  const [subject = '', ...rest] = withoutReturns(message)
    .trim()
    .split(/\n(?:[ \t]*\n)+/);
  const added = rest.findLastIndex((paragraph) => !isOfHost(paragraph));
  const isOwn = added >= 0 && hasTool.test(rest[added] ?? '') && isTrailers(rest[added]);
  const from = isOwn ? added : isTrailers(rest.at(-1)) ? rest.length - 1 : rest.length;
  const trailers = rest.slice(from).flatMap((paragraph) => paragraph.split('\n'));
  return {
    subject,
    reason: rest.slice(0, from).join('\n\n'),
    trailers: trailers.filter((line) => trailer.test(line)),
  };
}

const hasTool = /^Memory-Tool: /m;

/** Whether a paragraph is one that a code host adds at the end of a message. */
function isOfHost(paragraph: string): boolean {
  if (hasTool.test(paragraph)) return false;
  return isTrailers(paragraph) || /^See merge request \S+$/.test(paragraph);
}

function isTrailers(paragraph = ''): boolean {
  return paragraph.split('\n').every((line) => trailer.test(line));
}

/** A text as git has it: a page of a code host ends lines with a carriage return also. */
function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

const trailer = /^[A-Za-z][\w-]*: /;

/** The values of a trailer of ours. */
export function valuesOf(trailers: readonly string[], name: string): string[] {
  const key = `memory-${name}: `;
  return trailers
    .filter((line) => line.toLowerCase().startsWith(key))
    .map((line) => line.slice(key.length));
}

/**
 * Whether a message is that of a commit of the memory: by its subject and its trailers.
 *
 * The message of a squash merge can end in the trailers of the last commit, under another subject.
 */
export function isMemoryMessage(message: string): boolean {
  const { subject, trailers } = partsOf(message);
  return subject.startsWith('memory: ') && trailers.some((line) => /^Memory-Tool: /.test(line));
}

/**
 * The messages of commits of the memory that the message of a squash contains, the oldest first.
 *
 * The merge button of a forge makes a list of them ("* memory: …"), and `git merge --squash` indents
 * them, the newest first.
 */
export function squashedMessages(message: string): readonly string[] {
  // The reason of a commit of the memory is from an agent, and can say anything.
  if (!squashed.test(message) || isMemoryMessage(message)) return [];
  const lines = withoutReturns(message).split('\n');
  const isOfGit = lines.includes('Squashed commit of the following:');
  const mark = isOfGit ? '    ' : '';
  const starts = lines.flatMap((line, at) => {
    const isStart = isOfGit ? line.startsWith('    memory: ') : /^[*-] memory: /.test(line);
    return isStart ? [at] : [];
  });
  const found = starts.flatMap((start, at) => {
    const [first = '', ...rest] = lines.slice(start, starts[at + 1]);
    const below = rest.map((line) => (line.startsWith(mark) ? line.slice(mark.length) : line));
    const end = endOfTrailers(below);
    if (end === undefined) return [];
    return [[first.replace(/^[*-] | {4}/, ''), ...below.slice(0, end)].join('\n')];
  });
  return isOfGit ? found.reverse() : found;
}

/** A line by which a commit of the memory begins in the message of a squash. */
const squashed = /^(?: {4}|[*-] )memory: /m;

/** The line after the last trailers of the memory: those in the reason of an agent come before them. */
function endOfTrailers(lines: readonly string[]): number | undefined {
  const tool = lines.findLastIndex((line) => line.startsWith('Memory-Tool: '));
  if (tool < 0) return undefined;
  const end = lines.findIndex((line, at) => at > tool && !trailer.test(line));
  return end < 0 ? lines.length : end;
}

/**
 * Of the messages of a squash, that of the last commit that changed a record; of several that changed
 * a file, the one that names the section.
 */
export function messageFor(
  messages: readonly string[],
  { path, section }: RecordAddress,
): string | undefined {
  const ofRecord = messages.filter((message) =>
    valuesOf(partsOf(message).trailers, 'record').includes(path),
  );
  if (section === undefined) return ofRecord.at(-1);
  const ofSection = ofRecord.filter((message) => {
    // A long title is cut in a subject.
    const [, title] = /"([^"…]{3,})["…]/.exec(partsOf(message).subject) ?? [];
    return title !== undefined && section.includes(title);
  });
  return ofSection.at(-1) ?? (ofRecord.length === 1 ? ofRecord[0] : undefined);
}
