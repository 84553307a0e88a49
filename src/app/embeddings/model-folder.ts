import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonText } from '../../core/values/json.ts';

/** A larger file of JSON is not read, in bytes. */
const maxJson = 64 * 1024 * 1024;

/** The error for a folder of a model that cannot be used. */
export function modelError(problem: string): Error {
  return new Error(`The embedding model cannot be used: ${problem}.`);
}

/** Reads a file of JSON from the folder of a model. */
export function readJson(folder: string, name: string): unknown {
  const path = join(folder, name);
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > maxJson) throw modelError(`${path} is too large`);
    return readJsonText(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw modelError(`${path} is not valid JSON`);
    throw error;
  }
}

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
