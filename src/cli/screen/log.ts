import { redactText } from '../../app/app.ts';
import type { LogLevel } from '../../core/declarations/context.ts';
import { printable } from './terminal.ts';

/** The forms of the messages on stderr: for people, or a JSON object in each line. */
export const logFormats = ['text', 'json'] as const;

export type LogFormat = (typeof logFormats)[number];

/** One for the process, because errors outside every command also have to be in it. */
let format: LogFormat = 'text';

/** Sets the form of all later messages of the process. */
export function useLogFormat(wanted: LogFormat): void {
  format = wanted;
}

/** Whether messages are for people, with advice of several lines. */
export function isForPeople(): boolean {
  return format === 'text';
}

/** Writes a log message to stderr without credentials; levels debug and info only with `DEBUG=true`. */
export function report(level: LogLevel, message: string): void {
  const chatty = level === 'debug' || level === 'info';
  if (chatty && process.env.DEBUG !== 'true') return;
  announce(`memory-bank: ${level}: ${printable(redactText(message))}`, level, redactText(message));
}

/**
 * Writes a line to stderr.
 *
 * @param text the line for people.
 * @param level of the JSON object, and its message; by default the text is the message.
 */
export function announce(text: string, level: LogLevel = 'notice', message = text): void {
  const time = new Date().toISOString();
  const line = format === 'text' ? text : JSON.stringify({ time, level, message });
  process.stderr.write(`${line}\n`);
}
