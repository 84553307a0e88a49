import { readFileSync } from 'node:fs';

/** Only Linux reports processes as files: on Windows the path is a folder that anybody can make. */
export const hasProcesses = process.platform === 'linux';

/** The state of a process. */
export interface ProcessState {
  readonly parent: number;
  /** Clock ticks from boot to its start. */
  readonly start: string;
  /** False for a zombie, which runs nothing. */
  readonly isAlive: boolean;
}

/** Reads a file about a process; undefined if it does not exist, or the system does not report it. */
export function processText(
  pid: number,
  name: 'comm' | 'cmdline' | 'environ' | 'stat',
): string | undefined {
  if (!hasProcesses) return undefined;
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** The state of a process; undefined if it does not exist, or the system does not report it. */
export function stateOf(pid: number): ProcessState | undefined {
  const stat = processText(pid, 'stat');
  if (stat === undefined) return undefined;
  // The program's name may contain spaces and parentheses: the fields start after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const isAlive = fields[0] !== 'Z' && fields[0] !== 'X';
  return { parent: Number(fields[1]), start: fields[19] ?? '', isAlive };
}
