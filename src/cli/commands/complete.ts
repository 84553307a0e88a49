import { exportNames } from '../../app/exchange/exporter.ts';
import { formatsOf } from '../../app/exchange/importer.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Invocation } from '../line/command.ts';
import {
  type Command,
  type Commands,
  type Flag,
  type Flags,
  flagMeaning,
} from '../line/command.ts';
import { commandIndex } from '../line/command-line.ts';
import { inSession } from '../line/run-in-session.ts';
import { printable } from '../screen/terminal.ts';
import { clients } from '../setup/client/client-table.ts';
import { shells } from './completion.ts';

/** A shell shows no more of them in a useful way. */
const maxCandidates = 500;

/** A word that fits, and what it means. */
type Candidate = readonly [word: string, meaning: string];

/** The candidates: words, or file names, which the shell completes itself. */
type Candidates = readonly Candidate[] | 'files';

/** `memory-bank complete -- <words>`: prints what the last word of a command line can become. */
export function complete(everyCommand: () => Promise<Commands>, general: Flags): Command {
  return {
    about:
      'print the candidates for the last word of a command line, for the scripts of completion',
    operands: ['word...'],
    hidden: true,
    async run(invocation) {
      const [, ...words] = invocation.operands;
      const current = words.pop() ?? '';
      const line = new PartialLine(await everyCommand(), general, words);
      const found = await line.candidates(invocation, current);
      if (found === 'files') process.stdout.write('files\n');
      else {
        const fitting = found.filter(([word]) => word.startsWith(current)).slice(0, maxCandidates);
        const lines = fitting.map(([word, meaning]) => `${oneLine(word)}\t${oneLine(meaning)}\n`);
        process.stdout.write(['words\n', ...lines].join(''));
      }
      return 0;
    },
  };
}

function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' '));
}

/** The words of a command line before the one that is completed. */
class PartialLine {
  readonly #commands: Commands;
  readonly #words: readonly string[];
  readonly #flags: Flags;
  readonly #command: Command | undefined;
  /** Words after the name of the command. */
  readonly #rest: readonly string[];

  constructor(commands: Commands, general: Flags, words: readonly string[]) {
    this.#commands = commands;
    this.#words = words.slice(commandIndex(words, general));
    const [first = '', second = ''] = this.#words;
    const name = commands.has(first) && first !== '' ? first : `${first} ${second}`;
    this.#command = commands.get(name);
    this.#rest = this.#command ? this.#words.slice(name.split(' ').length) : words;
    this.#flags = { ...general, ...this.#command?.flags };
  }

  async candidates(invocation: Invocation, current: string): Promise<Candidates> {
    const previous = this.#flag(this.#rest.at(-1));
    if (previous?.value !== undefined) return this.#values(invocation, previous);
    if (current.startsWith('-')) {
      return Object.entries(this.#flags).map(([name, flag]) => [`--${name}`, flagMeaning(flag)]);
    }
    if (!this.#command) return this.#commandNames();
    const operands = this.#command.operands ?? [];
    const given = this.#rest.filter(
      (word, i) => !word.startsWith('-') && this.#flag(this.#rest[i - 1])?.value === undefined,
    );
    const operand = operands[Math.min(given.length, operands.length - 1)] ?? '';
    if (given.length >= operands.length && !operand.endsWith('...')) return [];
    return this.#valuesOf(invocation, operand.replace(/\?$|\.\.\.$/, ''));
  }

  /** The option that a word names. */
  #flag(word: string | undefined): Flag | undefined {
    return word?.startsWith('--') ? this.#flags[word.slice(2)] : undefined;
  }

  /** The names of commands that begin with the words so far: the next word of each. */
  #commandNames(): Candidate[] {
    const words = this.#command ? this.#rest : this.#words;
    const start = words.map((word) => `${word} `).join('');
    const found = new Map<string, string>();
    for (const [name, { about, hidden }] of this.#commands) {
      if (name === '' || hidden || !name.startsWith(start)) continue;
      const [word = '', second] = name.slice(start.length).split(' ');
      const meaning = about.split(/(?<=[.;:])\s/, 1)[0]?.replace(/[.;:]$/, '') ?? '';
      found.set(word, second === undefined ? meaning : `the tools of ${word}`);
    }
    return [...found];
  }

  #values(invocation: Invocation, { value = '', choices }: Flag): Promise<Candidates> | Candidates {
    if (choices) return choices.map((choice) => [choice, '']);
    return this.#valuesOf(invocation, value.replace(/,\.\.\.$/, ''));
  }

  /** The values of an option or operand, by the name that the help gives to them. */
  async #valuesOf(invocation: Invocation, kind: string): Promise<Candidates> {
    const { app } = invocation;
    const named = (words: Iterable<string>): Candidate[] => [...words].map((word) => [word, '']);
    const inMemory = (work: (context: Context) => Promise<Candidate[]>) =>
      inSession(invocation, (session, call) => app.run(session, 'complete', call, work));
    switch (kind) {
      case 'toolset':
        return (await app.toolsets()).map(({ name, title }) => [name, title]);
      case 'client':
        return Object.entries(clients).map(([name, { title }]) => [name, title]);
      case 'format':
        return [...(await exportNames(app))];
      case 'source-format':
        return (await formatsOf(app)).map(({ name, title }) => [name, title]);
      case 'shell':
        return named(shells);
      case 'command':
      case 'tool':
        return this.#commandNames();
      case 'mode':
        return inMemory(async ({ modes }) => {
          const known = await modes.list();
          return known.modes.map(({ name, source }) => [name, source]);
        });
      case 'revision':
      case 'from':
      case 'to':
        return inMemory(async ({ history }) => {
          const { branches } = await history.branches(maxCandidates);
          return branches.map(({ name, commit }) => [name, commit.subject]);
        });
      case 'path':
        return inMemory(async ({ store }) => {
          const found: Candidate[] = [];
          const titles: Candidate[] = [];
          for (const type of (await app.toolsets()).flatMap(({ records }) => records)) {
            const { records } = await store.list(type);
            for (const { path, value } of records) {
              const { title } = type.search(value);
              found.push([path, title]);
              if (title !== path) titles.push([title, path]);
            }
          }
          return [...found, ...titles];
        });
      case 'file':
      case 'folder':
      case 'source':
        return 'files';
      default:
        return [];
    }
  }
}
