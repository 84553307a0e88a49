import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isObject } from '../../core/values/json.ts';
import { withoutWaiting } from '../../git/disk/open-plain.ts';

/** How much of the end of a transcript is read, in bytes. */
const maxBytes = 256 * 1024;

/**
 * Returns the last prompt of the user in a transcript of Antigravity; empty if it cannot be read.
 *
 * Each line is a step as JSON. The text of the user is in an element of its own, before what the client
 * says about its surroundings.
 */
export function lastUserInput(path: string): string {
  for (const line of endOf(path).split('\n').reverse()) {
    if (!line.includes('USER_INPUT')) continue;
    const content = contentOf(line);
    if (content === undefined) continue;
    const [, request] = /<USER_REQUEST>([\s\S]*?)<\/USER_REQUEST>/.exec(content) ?? [];
    return (request ?? content).trim();
  }
  return '';
}

function contentOf(line: string): string | undefined {
  try {
    const step: unknown = JSON.parse(line);
    if (!isObject(step) || step.type !== 'USER_INPUT') return undefined;
    return typeof step.content === 'string' ? step.content : undefined;
  } catch {
    return undefined;
  }
}

function endOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, withoutWaiting);
    const stat = fstatSync(file);
    if (!stat.isFile()) return '';
    const start = Math.max(0, stat.size - maxBytes);
    const bytes = Buffer.alloc(stat.size - start);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start));
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
