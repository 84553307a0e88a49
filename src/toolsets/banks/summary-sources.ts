import type { Context } from '../../core/declarations/context.ts';
import { outline } from '../../core/markdown/sections.ts';
import { fileNameProblem } from '../../core/names/file-name.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Bank } from './bank.ts';
import { mainFile, sourcesHeading } from './template.ts';

/** Prefix of a repository file among the documents of a bank; a document's name has no colon. */
const mark = 'source:';

/** Repository files that a new code bank names if they exist. */
const candidates = [
  'README.md',
  'ARCHITECTURE.md',
  'docs/architecture.md',
  'docs/design.md',
  'docs/api.md',
];

/** Limits: number of sources that are read, and bytes of each. */
const maxSources = 20;
const maxSourceBytes = 256 * 1024;

/** The sources of a bank, by name with prefix: `source:README.md`. */
export interface Sources {
  readonly found: ReadonlyMap<string, string>;
  /** Named by the bank, but missing or not allowed. */
  readonly missing: readonly string[];
  /** Named by the bank, but not read; the reason follows the name. */
  readonly unread: readonly string[];
}

/** Lists the repository files that a new code bank names. */
export async function usualSources(context: Context): Promise<string[]> {
  const { found } = await read(context, candidates);
  return [...found.keys()].map((name) => name.slice(mark.length));
}

/** Reads the repository files that a code bank names; they are never written. */
export async function readSources(context: Context, bank: Bank): Promise<Sources> {
  return read(context, namedSources(bank));
}

/**
 * Returns the paths that a code bank's main document lists below "Sources".
 *
 * A path is the first code span or link of a list item.
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
    if (found.size === maxSources) {
      unread.push(`${name}: the limit of ${maxSources} files is reached`);
      continue;
    }
    try {
      const text = fileNameProblem(path)
        ? undefined
        : await context.project.readFile(path, maxSourceBytes);
      if (text === undefined) missing.push(name);
      else found.set(name, text);
    } catch (thrown) {
      if (!(thrown instanceof MemoryError)) throw thrown;
      // A link or a folder at this path counts as a missing file.
      if (thrown.code !== 'too_large') missing.push(name);
      else unread.push(`${name}: it is larger than ${maxSourceBytes / 1024} KiB`);
    }
  }
  return { found, missing, unread };
}
