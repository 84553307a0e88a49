import type { WriteStream } from 'node:tty';
import type { Painter, Style } from '../../core/answers/painter.ts';
import { markHidden } from '../../core/values/hidden-characters.ts';
import { escapedUnits, jsonText } from '../../core/values/json.ts';

const codes: Record<Style, readonly [on: number, off: number]> = {
  title: [1, 22],
  key: [33, 39],
  faint: [2, 22],
  good: [32, 39],
  bad: [31, 39],
  match: [36, 39],
};

/** The width that the user asks for by COLUMNS, as for `man` and git. */
function columnsOf({ COLUMNS = '' }: NodeJS.ProcessEnv): number | undefined {
  return /^[1-9]\d{0,3}$/.test(COLUMNS) ? Number(COLUMNS) : undefined;
}

/** The output of a command: a terminal of some size, or a pipe, which gets plain text. */
export class Screen implements Painter {
  /** Whether it is a terminal. */
  readonly terminal: boolean;
  /** Characters of a line. */
  readonly width: number;
  readonly #stream: NodeJS.WriteStream | WriteStream;
  readonly #colour: boolean;
  readonly #pager: string | undefined;
  readonly #word: (text: string) => string;

  /** @param word words a message to agents for the command line. */
  constructor(
    stream: NodeJS.WriteStream = process.stdout,
    env: NodeJS.ProcessEnv = process.env,
    word: (text: string) => string = (text) => text,
  ) {
    this.#stream = stream;
    this.#word = word;
    this.terminal = stream.isTTY === true;
    this.width = Math.max(40, columnsOf(env) ?? (this.terminal ? (stream.columns ?? 80) : 100));
    // https://no-color.org: whatever its value, unless it is empty.
    this.#colour = this.terminal && !env.NO_COLOR && env.TERM !== 'dumb';
    // Only the user's own environment chooses the pager; a repository cannot make it run a program.
    const pager = env.PAGER ?? defaultPager;
    this.#pager = this.terminal && pager !== 'cat' && pager !== '' ? pager : undefined;
  }

  /** Text in the colour of its style, with control characters made visible. */
  paint(style: Style, text: string): string {
    const [on, off] = codes[style];
    const plain = printable(text);
    return this.#colour ? `\u001b[${on}m${plain}\u001b[${off}m` : plain;
  }

  /** Text with control characters made visible. */
  plain(text: string): string {
    return printable(text);
  }

  /** A message to agents in the words of the command line, with control characters made visible. */
  message(text: string): string {
    return printable(this.#word(text));
  }

  /** Text as one line, cut to the width, with control characters made visible. */
  fit(text: string, room = this.width): string {
    const points = [...printable(text.replace(/\s+/g, ' ').trim())];
    return points.length <= room ? points.join('') : `${points.slice(0, room - 1).join('')}…`;
  }

  /** Writes painted text without a pager, above a question that belongs to it. */
  print(text: string): Promise<void> {
    return this.#write(text);
  }

  /** Writes painted text, through `$PAGER` where it does not fit the terminal. */
  async show(text: string): Promise<void> {
    // Some terminals report that they have no rows.
    const rows = this.#stream.rows || 24;
    if (this.#pager !== undefined && text.split('\n').length > rows) {
      if (await page(this.#pager, text)) return;
    }
    await this.#write(text);
  }

  /** Writes text exactly to a pipe, and to a terminal with control characters made visible. */
  async showExactly(text: string): Promise<void> {
    if (!this.terminal) await this.#write(text);
    else await this.show(printable(text.endsWith('\n') || text === '' ? text : `${text}\n`));
  }

  /** Writes a value as JSON; for a terminal, with control characters escaped. */
  async showJson(value: object): Promise<void> {
    const text = `${jsonText(value, 2)}\n`;
    await this.show(this.terminal ? markHidden(text, escapedUnits) : text);
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve) => {
      // A reader that closes the pipe, as `head` does, is not an error. Node reports it to both callbacks.
      const gone = () => resolve();
      this.#stream.once('error', gone);
      this.#stream.write(text, (error) => {
        if (!error) this.#stream.off('error', gone);
        resolve();
      });
    });
  }
}

/** Text in which every hidden character is written by its code: `\u{1b}`. */
export function printable(text: string): string {
  return markHidden(
    text.replaceAll('\r\n', '\n'),
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The pager of a user who sets none. */
const defaultPager = 'less';

/** Runs the user's pager; false when it cannot be run. */
async function page(command: string, text: string): Promise<boolean> {
  // Loaded here, because most processes show nothing that needs a pager.
  const { spawn } = await import('node:child_process');
  const { programToStart, shellEnvironment } = await import('../../app/session/programs.ts');
  // The user's own setting is a command line. Without a shell, a missing default goes unnoticed.
  const shell = command !== defaultPager;
  const start = shell ? command : programToStart(command, process.env);
  if (start === undefined) return false;
  return new Promise((resolve) => {
    const child = spawn(start, {
      shell,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', ...shellEnvironment(process.env) },
    });
    child.stdin.on('error', () => {});
    child.on('error', () => resolve(false));
    child.on('close', (status) => resolve(status !== 127 && status !== 126));
    child.stdin.end(text);
  });
}
