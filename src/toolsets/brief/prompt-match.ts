import { answerLine, type ShownHit } from '../../core/memory/hit-form.ts';
import { changeIn } from './change-note.ts';
import { withoutClientContext } from './client-context.ts';
import { type BriefLine, oneLine, quote } from './layout.ts';

/** Characters of a prompt that are searched for; the task is usually at its beginning. */
const maxPrompt = 1500;
/** Number of records that a hook shows for one prompt: it runs before each of them. */
export const maxAtPrompt = 3;
/** Longest quoted text of a record, in characters. */
const maxLine = 540;

/** Printable ASCII, as most prompts are; the classes of Unicode take long to compile. */
const plain = /^[ -~]*$/;

/** A record, or an entry of one, that is surely about a prompt. */
export interface PromptHit extends ShownHit {
  /** The path of the record. */
  readonly id: string;
  readonly title?: string;
  /** The entry of a log; undefined for a whole record. */
  readonly entry?: string;
}

/** Returns the query for a prompt; empty if it has no words. */
export function promptQuery(prompt: string): string {
  const text = withoutClientContext(prompt).slice(0, maxPrompt);
  if (plain.test(text)) return /[a-z\d]{3}/i.test(text) ? text.replace(/ +/g, ' ').trim() : '';
  const query = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return /[\p{L}\p{N}]{3}/u.test(query) ? query : '';
}

/**
 * The lines of the records that are about a prompt.
 *
 * @param hits the surest first; no more are taken than lines are needed.
 */
export function* promptLines(hits: Iterable<PromptHit>): Generator<BriefLine> {
  for (const hit of hits) {
    const { id, title = '' } = hit;
    const line = answerLine(repeats(id, title) ? (headingOf(hit) ?? '') : title, hit);
    if (line === undefined) continue;
    // It is there where the prompt asks for it, or only it has words of the prompt.
    const reason = hit.reason ? ` ${hit.reason.label}: ${hit.reason.text}` : '';
    const text = `${oneLine(id)}${noteOf(hit)}: ${quote(line + reason, maxLine)}`;
    yield {
      path: id,
      ...(hit.entry !== undefined && { entry: hit.entry }),
      text,
      changed: hit.changed,
    };
  }
}

/** The state of a hit and its last change, in brackets; empty if nothing is known. */
function noteOf({ state, changed }: PromptHit): string {
  const parts = [state, changed && changeIn(changed)].flatMap((one) => one ?? []);
  return parts.length === 0 ? '' : ` (${oneLine(parts.join(' · '))})`;
}

/** Whether a title says no more than the path next to it: `decisionLog.md`, "Decision Log". */
function repeats(path: string, title: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('.'));
  const letters = (text: string) => text.toLowerCase().replace(/[ _-]+/g, '');
  return letters(name) === letters(title);
}

/** The heading of the section that a hit is from; undefined for none. */
function headingOf({ section }: PromptHit): string | undefined {
  return section?.split(' > ').at(-1);
}
