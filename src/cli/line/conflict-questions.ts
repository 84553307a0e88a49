import {
  type Conflict,
  type Decisions,
  type FieldConflict,
  MergeConflict,
} from '../../core/memory/conflict.ts';
import { conflictAddress, questionsOf } from '../../core/memory/conflict-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonValue } from '../../core/values/json.ts';
import { Screen } from '../screen/terminal.ts';
import { type Flags, type FlagValues, flagTexts } from './command.ts';
import { openDraft } from './draft.ts';
import { mayAsk, question } from './prompt.ts';

/** Limit of the lines of a value that are shown. */
const maxLines = 40;

/** The names of the two sides for a person. */
export interface SideNames {
  readonly ours: string;
  readonly theirs: string;
}

/**
 * The options that decide conflicts without a question.
 *
 * @param of the action of the command that has them: `accept: `.
 */
export function decisionFlags({ ours, theirs }: SideNames, of = ''): Flags {
  return {
    ours: {
      value: 'path[#field]',
      many: true,
      about: `${of}keep ${ours} where this record, or this field of it, conflicts`,
    },
    theirs: {
      value: 'path[#field]',
      many: true,
      about: `${of}take ${theirs} where this record, or this field of it, conflicts`,
    },
  };
}

/**
 * Merges, and asks the person about each conflict that the options do not decide.
 *
 * @throws MergeConflict without a terminal, after the conflicts were listed on stderr.
 */
export async function mergeOrAsk<R>(
  values: FlagValues,
  names: SideNames,
  merge: (decisions: Decisions) => Promise<R>,
): Promise<R> {
  const [ours, theirs] = [flagTexts(values, 'ours'), flagTexts(values, 'theirs')];
  let decisions: Decisions = { ours, theirs };
  while (true) {
    try {
      return await merge(decisions);
    } catch (error) {
      if (!(error instanceof MergeConflict)) throw error;
      if (!mayAsk(values)) {
        await listConflicts(error.conflicts, names);
        throw error;
      }
      decisions = await askAll(error, decisions, names);
    }
  }
}

async function askAll(
  { conflicts, state }: MergeConflict,
  decisions: Decisions,
  names: SideNames,
): Promise<Decisions> {
  const ours = [...decisions.ours];
  const theirs = [...decisions.theirs];
  const texts = new Map(decisions.texts);
  for (const { conflict, field, address } of questionsOf(conflicts)) {
    await show(conflict, field, names);
    const taken = await ask(field, names);
    if (taken === 'ours') ours.push(address);
    else if (taken === 'theirs') theirs.push(address);
    else texts.set(address, taken.text);
  }
  return { ours, theirs, texts, decided: state };
}

async function listConflicts(conflicts: readonly Conflict[], names: SideNames): Promise<void> {
  for (const { conflict, field, address } of questionsOf(conflicts)) {
    await show(conflict, field, names);
    const named = `'${address.replaceAll("'", "'\\''")}'`;
    await print((screen) => [screen.plain(`  --ours ${named} or --theirs ${named}`)]);
  }
}

function show(
  { path, reasons }: Conflict,
  field: FieldConflict | undefined,
  names: SideNames,
): Promise<void> {
  return print((screen) => {
    const line = (label: string, value: JsonValue | undefined) =>
      valueLines(value).map((text, i) =>
        screen.plain(`  ${(i === 0 ? `${label}:` : '').padEnd(longest + 2)}${text}`),
      );
    const labels = { base: 'before', ours: names.ours, theirs: names.theirs };
    const longest = Math.max(...Object.values(labels).map((label) => label.length));
    if (!field) return [screen.paint('title', path), screen.plain(`  ${reasons.join('; ')}`)];
    return [
      screen.paint('title', conflictAddress(path, field.field)),
      ...line(labels.base, field.base),
      ...line(labels.ours, field.ours),
      ...line(labels.theirs, field.theirs),
    ];
  });
}

function valueLines(value: JsonValue | undefined): string[] {
  if (value === undefined) return ['(nothing)'];
  const lines = (typeof value === 'string' ? value : JSON.stringify(value)).split('\n');
  const more = lines.length - maxLines;
  return more > 0 ? [...lines.slice(0, maxLines), `… (${more} more lines)`] : lines;
}

async function print(lines: (screen: Screen) => readonly string[]): Promise<void> {
  const screen = new Screen(process.stderr);
  await screen.print(`${lines(screen).join('\n')}\n`);
}

type Taken = 'ours' | 'theirs' | { readonly text: string };

/** @throws MemoryError `cancelled`. */
async function ask(field: FieldConflict | undefined, names: SideNames): Promise<Taken> {
  const { ours, theirs } = field ?? {};
  const texts = typeof ours === 'string' && typeof theirs === 'string' && { ours, theirs };
  const more = texts ? ', [b]oth in an editor' : '';
  const text = `Take [o]urs: ${names.ours}, [t]heirs: ${names.theirs}${more}, or [q]uit? `;
  while (true) {
    const answer = (await question(text)).toLowerCase();
    if (answer === 'o' || answer === 'ours') return 'ours';
    if (answer === 't' || answer === 'theirs') return 'theirs';
    if (texts && (answer === 'b' || answer === 'both')) return { text: await write(texts) };
    if (answer === 'q' || answer === 'quit') {
      throw new MemoryError('cancelled', 'It was cancelled; nothing was changed.');
    }
  }
}

/** Opens both texts, one below the other, in the editor of the person. */
async function write({ ours, theirs }: SideNames): Promise<string> {
  const draft = openDraft('conflict.md', `${ours}\n${theirs}\n`, () => 'it was not merged.');
  const text = await draft.edit();
  draft.remove();
  return text.replace(/\r?\n$/, '');
}
