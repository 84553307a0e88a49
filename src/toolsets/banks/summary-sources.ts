import type { Context } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
import { outline } from '../../core/markdown/sections.ts';
import { fileNameProblem } from '../../core/names/file-name.ts';
import type { Bank } from './bank.ts';
import { mainFile, sourcesHeading } from './template.ts';

/** What marks a file of the repository among the documents of a bank. No document's name has a colon. */
const mark = 'source:';

/** Files of the repository that a new code bank names when they are there. */
const candidates = [
  'README.md',
  'ARCHITECTURE.md',
  'docs/architecture.md',
  'docs/design.md',
  'docs/api.md',
];

/** At most this many sources are read, each up to this many bytes. */
const most = 20;
const largest = 256 * 1024;

/** The sources of a bank, under the names that mark them: `source:README.md`. */
export interface Sources {
  readonly found: ReadonlyMap<string, string>;
  /** Named by the bank, and not there or not allowed. */
  readonly missing: readonly string[];
  /** Named by the bank, and not read for the reason that stands behind the name. */
  readonly unread: readonly string[];
}

/** The files of the repository that a new code bank starts with. */
export async function usualSources(context: Context): Promise<string[]> {
  const { found } = await read(context, candidates);
  return [...found.keys()].map((name) => name.slice(mark.length));
}

/** Reads the files of the repository that a code bank names; they are never written. */
export async function readSources(context: Context, bank: Bank): Promise<Sources> {
  return read(context, namedSources(bank));
}

/**
 * The paths that a code bank's main document lists below "Sources": the first code span or link of
 * each list item.
 */
export function namedSources(bank: Bank): string[] {
  if (bank.type !== 'code') return [];
  const text = bank.files.find(({ file }) => file === mainFile.code)?.value.body ?? '';
  const section = outline(text).find(({ heading }) => heading === sourcesHeading);
  if (!section) return [];
  const listed = text.slice(section.bodyStart, section.bodyEnd);
  const items = listed.matchAll(/^[ \t]*[-*+] .*?(?:`([^`\n]+)`|\]\(<?([^)>\n]+)>?\))/gm);
  return [...new Set([...items].map(([, code, link]) => code ?? link ?? ''))];
}

async function read(context: Context, paths: readonly string[]): Promise<Sources> {
  const found = new Map<string, string>();
  const missing: string[] = [];
  const unread: string[] = [];
  for (const path of paths) {
    const name = `${mark}${path}`;
    if (found.size === most) {
      unread.push(`${name}: ${most} others are read`);
      continue;
    }
    try {
      const text = fileNameProblem(path)
        ? undefined
        : await context.project.readFile(path, largest);
      if (text === undefined) missing.push(name);
      else found.set(name, text);
    } catch (thrown) {
      if (!(thrown instanceof MemoryError)) throw thrown;
      // A link or a folder in its place is refused like a file that is not there.
      if (thrown.code !== 'too_large') missing.push(name);
      else unread.push(`${name}: it is larger than ${largest / 1024} KiB`);
    }
  }
  return { found, missing, unread };
}
