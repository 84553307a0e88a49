import { readText } from '../../../app/project/project-file.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { jsonWithComments } from '../language/json-entry.ts';
import { toml } from '../language/toml-entry.ts';
import type { Surroundings } from '../program/surroundings.ts';
import type { McpClient } from './client.ts';
import { placed } from './client-place.ts';

/**
 * Says that a client does not use what a project has for it yet, with the step that is missing; undefined where it
 * does, or where no file tells.
 */
export function trustNote(client: McpClient, around: Surroundings): string | undefined {
  const { title, trust, trustFile } = client;
  if (!trustFile) return undefined;
  const path = placed(trustFile.place, around);
  try {
    const text = readText(path);
    if (text === undefined) return undefined;
    const language = path.endsWith('.toml') ? toml : jsonWithComments;
    const state = trustFile.approves(language.read(text, []), around.root);
    if (state !== false) return undefined;
    return `${title} does not use that yet, as ${path} shows. ${trust}`;
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}
