import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Orders } from './driver.ts';

/** The bundled driver, ready to be started. */
export class Driver {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** @param before a program and its arguments that start the driver, for example as another user. */
  start(orders: Orders, before: readonly string[] = []): Worker {
    const command = [...before, process.execPath, this.#path, JSON.stringify(orders)];
    return new Worker(command);
  }
}

/** A driver process. */
export class Worker {
  readonly answers: Answer[] = [];
  readonly child: ChildProcess;
  /** Its exit status, or the signal that ended it. */
  readonly exit: Promise<number | string>;
  over = false;
  #err = '';

  constructor([program = '', ...args]: readonly string[]) {
    this.child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let rest = '';
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.answers.push(JSON.parse(line));
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
    });
    this.exit = new Promise((resolve) => {
      this.child.on('close', (status, signal) => {
        this.over = true;
        resolve(signal ?? status ?? 0);
      });
    });
  }

  /** The acknowledged changes. */
  get done(): (Answer & { readonly done: string; readonly oid: string })[] {
    return this.answers.flatMap((answer) => {
      const { done, oid } = answer;
      return done !== undefined && oid !== undefined ? [{ ...answer, done, oid }] : [];
    });
  }

  /** Other answers and output. */
  get complaints(): string[] {
    const errors = this.answers.flatMap(({ error, text }) => (error ? [`${error}: ${text}`] : []));
    return this.#err === '' ? errors : [...errors, this.#err];
  }

  /** Waits until the process has stopped itself; false if it exited instead. */
  async stopped(): Promise<boolean> {
    const state = () => {
      try {
        const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'latin1');
        return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
      } catch {
        return '';
      }
    };
    while (!this.over) {
      if (state() === 'T') return true;
      await sleep(5);
    }
    return false;
  }

  goOn(): void {
    this.child.kill('SIGCONT');
  }
}
