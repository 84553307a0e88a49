import { projectPath, readText } from '../../../app/project/project-file.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { editJson, json } from '../language/json-entry.ts';
import type { Surroundings } from '../program/surroundings.ts';
import type { McpClient, WaitingSetting } from './client.ts';
import { placed } from './client-place.ts';

/**
 * Adds the setting by which a client waits for its servers, or removes it again.
 *
 * A value that a person chose stays. Only a setting that is where this program puts it is removed: another
 * one is somebody's own.
 */
export function editWaiting(text: string, { key }: WaitingSetting, isWanted: boolean): string {
  const present = json.read(text, [key]);
  if (isWanted) return present === undefined ? json.edit(text, [], { [key]: true }) : text;
  const rest = editJson(text, [key], undefined);
  return json.edit(rest, [], { [key]: true }) === text ? rest : text;
}

/** Says that a client does not wait for the server; undefined where it does, or a person chose otherwise. */
export function waitingNote(client: McpClient, around: Surroundings): string | undefined {
  const { title, waiting } = client;
  if (!waiting) return undefined;
  try {
    const text = readText(projectPath(around.root, placed(waiting.place, around))) ?? '';
    if (json.read(text, [waiting.key]) !== undefined) return undefined;
    return `${title} ${waiting.without}, as "${waiting.key}" is not in ${waiting.place}`;
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}
