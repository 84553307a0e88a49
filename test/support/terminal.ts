import { spawn, spawnSync } from 'node:child_process';

/** Whether script(1) of util-linux is available, which runs a program on a terminal. */
export const hasTerminal = /util-linux/.test(
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '',
);

/** Output on a terminal, and the exit status of the program. */
export interface Shown {
  readonly status: number | null;
  readonly seen: string;
}

/** Time without output after which the program waits for an answer that nobody types, in milliseconds. */
const maxWaitMs = 60_000;

/**
 * Runs a program on a terminal, and ends it when it waits for an answer that is not given.
 *
 * @param answers texts at which questions end, with what to type there; each once and in this order.
 */
export function runOnTerminal(
  command: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<Shown> {
  const line = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qec', line, '/dev/null'], options);
  const left = [...answers];
  let seen = '';
  let fresh = '';
  const timer = setTimeout(() => child.kill('SIGKILL'), maxWaitMs);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    timer.refresh();
    seen += text;
    fresh += text;
    const [question, answer] = left[0] ?? [];
    if (question === undefined || answer === undefined || !fresh.includes(question)) return;
    left.shift();
    fresh = '';
    child.stdin.write(answer);
  });
  return new Promise((resolve) => {
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ status, seen });
    });
  });
}
