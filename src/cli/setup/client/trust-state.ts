import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readText } from '../../../app/project/project-file.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { jsonWithComments } from '../language/json-entry.ts';
import { toml } from '../language/toml-entry.ts';
import type { Surroundings } from '../program/surroundings.ts';
import type { McpClient } from './client.ts';
import { placed } from './client-place.ts';
import { asksForTrust } from './trust-files.ts';

/**
 * Says what a client does while its approval is missing, with the step; undefined where it has it, or where
 * no file tells.
 */
export function trustNote(client: McpClient, around: Surroundings): string | undefined {
  const { title, trust, trustFile } = client;
  if (!trustFile) return undefined;
  const path = placed(trustFile.place, around);
  const { asks } = trustFile;
  try {
    const settings = asks && readObject(placed(asks.place, around));
    if (asks && !(asksForTrust(settings) ?? asks.usually)) return undefined;
    // A user who was not asked yet has no file; without the folder, nobody uses the client here.
    const isUsed = asks !== undefined && existsSync(dirname(path));
    const value = readObject(path) ?? (isUsed ? {} : undefined);
    if (value === undefined || trustFile.approves(value, around.root) !== false) return undefined;
    const { pending = 'does not use that yet' } = trustFile;
    return `${title} ${pending}, as ${path} shows. ${trust}`;
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

/** Reads a file of settings; undefined where there is none. */
function readObject(path: string): unknown {
  const text = readText(path);
  if (text === undefined) return undefined;
  return (path.endsWith('.toml') ? toml : jsonWithComments).read(text, []);
}
