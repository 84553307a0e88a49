import { type Block, parseBlocks } from './blocks.ts';

/** A part of a markdown text that can name something of the project. */
export interface Mention {
  /** `code`: between backticks. `link`: the target of a link. `command`: a line of a block of shell code. */
  readonly kind: 'code' | 'link' | 'command' | 'prose';
  readonly text: string;
  /** Offset of the text. */
  readonly start: number;
}

/** Limit of the characters of one mention; nothing that names a file is longer. */
const maxLength = 1000;
/** Limit of the parentheses that are open in the target of a link. */
const maxParentheses = 4;
const shells: ReadonlySet<string> = new Set([
  '',
  'sh',
  'bash',
  'zsh',
  'shell',
  'console',
  'terminal',
  'shell-session',
  'shellsession',
]);
const frontMatter = /^\uFEFF?---\r?\n[\s\S]*?\r?\n---\r?\n/;
const attribute = /\b(?:href|src)=(["'])([^"'\s<>]{1,1000})\1/g;
const definition = /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,20}<?([^\s<>]{1,1000})/gm;

/**
 * Finds what a markdown text can say about the project, in linear time: prose, code between backticks,
 * the targets of links, and the lines of shell code. Other blocks of code and comments are left out.
 */
export function* mentionsOf(text: string): Generator<Mention> {
  // Front matter without an end would be searched for to the end of the text once.
  const from = frontMatter.exec(text)?.[0].length ?? (text.startsWith('\uFEFF') ? 1 : 0);
  yield* inBlocks(text, parseBlocks(text, from));
}

function* inBlocks(text: string, blocks: readonly Block[]): Generator<Mention> {
  for (const { kind, start, end, children } of blocks) {
    const part = () => text.slice(start, end);
    switch (kind) {
      case 'heading':
      case 'paragraph':
      case 'table':
        yield* inProse(part(), start);
        break;
      case 'fence':
        yield* inFence(part(), start);
        break;
      case 'html':
        yield* inHtml(part(), start);
        break;
      default:
        yield* inBlocks(text, children);
    }
  }
}

/** The targets of links and images in HTML, outside of comments. */
function* inHtml(html: string, offset: number): Generator<Mention> {
  if (html.startsWith('<!--')) return;
  for (const { index, 0: whole, 2: target = '' } of html.matchAll(attribute)) {
    yield { kind: 'link', text: target, start: offset + index + whole.length - 1 - target.length };
  }
}

/** The lines of a block of shell code, without their prompts. */
function* inFence(fence: string, offset: number): Generator<Mention> {
  const head = fence.indexOf('\n');
  const language = /^[`~]+[ \t]*(?:\{\.?)?([\w-]*)/.exec(fence)?.[1] ?? '';
  if (head < 0 || !shells.has(language.toLowerCase())) return;
  // Between prompts is what the commands have printed.
  const hasPrompts = /^[ \t]*[$%>] /m.test(fence);
  for (let at = head + 1; at < fence.length; ) {
    const next = fence.indexOf('\n', at);
    const end = next < 0 ? fence.length : next;
    const line = fence.slice(at, Math.min(end, at + maxLength));
    // The rest of a document within a command is not shell code.
    if (line.includes('<<')) return;
    const prompt = /^[ \t]*(?:>[ \t]*)?(?:[$%] )?[ \t]*/.exec(line)?.[0] ?? '';
    const code = line.slice(prompt.length).replace(/(?:^|\s)#.*$/, '');
    const text = code.trimEnd();
    if (text !== '' && (!hasPrompts || /[$%>]/.test(prompt))) {
      yield { kind: 'command', text, start: offset + at + prompt.length };
    }
    at = end + 1;
  }
}

function* inProse(prose: string, offset: number): Generator<Mention> {
  yield { kind: 'prose', text: prose, start: offset };
  yield* inHtml(prose, offset);
  if (prose.includes(']:')) {
    for (const { index, 0: whole, 1: target = '' } of prose.matchAll(definition)) {
      yield { kind: 'link', text: target, start: offset + index + whole.length - target.length };
    }
  }
  const closers = closingRuns(prose);
  for (let at = 0; at < prose.length; ) {
    const char = prose[at];
    if (char === '\\') {
      at += 2;
    } else if (char === '`') {
      const close = closers.get(at);
      const length = runLength(prose, at);
      if (close !== undefined) yield* span(prose, at + length, close, offset);
      at = close === undefined ? at + length : close + length;
    } else if (char === ']' && prose[at + 1] === '(') {
      const target = linkTarget(prose, at + 2);
      if (target) yield { kind: 'link', text: target.text, start: offset + target.start };
      at += 2;
    } else if (char === '<' && prose.startsWith('<!--', at)) {
      const end = prose.indexOf('-->', at);
      at = end < 0 ? prose.length : end + 3;
    } else at += 1;
  }
}

function* span(prose: string, from: number, to: number, offset: number): Generator<Mention> {
  if (to - from > maxLength) return;
  const inner = prose.slice(from, to);
  const text = inner.trim();
  if (text === '' || text.includes('\n')) return;
  yield { kind: 'code', text, start: offset + from + inner.indexOf(text) };
}

/** The run of backticks that closes each run, by the offsets of both. */
function closingRuns(text: string): ReadonlyMap<number, number> {
  const runs: (readonly [at: number, length: number])[] = [];
  for (let at = text.indexOf('`'); at >= 0; ) {
    const length = runLength(text, at);
    runs.push([at, length]);
    at = text.indexOf('`', at + length);
  }
  const next = new Map<number, number>();
  const closers = new Map<number, number>();
  for (const [at, length] of runs.reverse()) {
    const close = next.get(length);
    if (close !== undefined) closers.set(at, close);
    next.set(length, at);
  }
  return closers;
}

function runLength(text: string, at: number): number {
  let end = at;
  while (text[end] === '`') end++;
  return end - at;
}

/** The target of an inline link that begins at an offset, without its title. */
function linkTarget(text: string, from: number) {
  let at = from;
  while (text[at] === ' ' || text[at] === '<') at++;
  const start = at;
  for (let depth = 0; at < text.length && at - start <= maxLength; at++) {
    const char = text[at] ?? '';
    if (char === '(' && ++depth > maxParentheses) return undefined;
    if (char === ')' && depth-- === 0) break;
    if (/[\s<>]/.test(char)) break;
  }
  const target = text.slice(start, at);
  return target === '' || at - start > maxLength ? undefined : { text: target, start };
}
