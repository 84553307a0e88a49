import { type GivenEvidence, parseGiven } from '../../core/evidence/annotations.ts';
import { SpanText } from '../../core/evidence/span.ts';
import { findSymbol } from '../../core/evidence/symbol.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import type { Folder } from '../../git/disk/folder.ts';
import { maxCodeBytes, toText } from './project-code.ts';

/**
 * Reads the places that a caller gives as evidence, as the work tree has them now.
 *
 * @param project reads the files of the project; it follows no links.
 * @throws MemoryError `invalid_input` that names the place and what is wrong with it.
 */
export function cite(project: Folder, places: readonly string[]): GivenEvidence[] {
  return places.map((place, index) => {
    try {
      return citeOne(project, place.trim());
    } catch (error) {
      const { message } = error instanceof MemoryError ? error : new Error(String(error));
      // The answer names no folder of this machine.
      const problem = message.replace(`${project.root}/`, '').replace(/\.$/, '');
      throw invalid(['evidence', index], `${JSON.stringify(place)}: ${problem}`);
    }
  });
}

/** A place relative to the project, with `/` between the segments of its path. */
export function placeInside(place: string, root: string, platform = process.platform): string {
  if (platform !== 'win32') {
    return place.startsWith(`${root}/`) ? place.slice(root.length + 1) : place;
  }
  const path = place.replaceAll('\\', '/');
  const top = root.replaceAll('\\', '/');
  // A client may write the letter of the drive in either case.
  const isInside = path.toLowerCase().startsWith(`${top.toLowerCase()}/`);
  return isInside ? path.slice(top.length + 1) : path;
}

function citeOne(project: Folder, place: string): GivenEvidence {
  const parsed = parseGiven(placeInside(place, project.root));
  if (!parsed) {
    throw new MemoryError(
      'invalid_input',
      'give a path relative to the project, such as src/a.ts, src/a.ts:4-9 or src/a.ts#name',
    );
  }
  const { path, lines, symbol } = parsed;
  const stat = project.stat(path);
  if (!stat) throw new MemoryError('not_found', `the project has no file ${path}`);
  if (!lines && symbol === undefined) return { path };
  if (stat.kind !== 'file') throw new MemoryError('invalid_input', `${path} is a folder`);
  const bytes = project.read(path, maxCodeBytes, stat) ?? Buffer.alloc(0);
  const text = toText(bytes);
  if (!(text instanceof SpanText)) throw new MemoryError('invalid_input', text);
  const span = symbol === undefined ? lines : findSymbol(bytes.toString('utf8'), symbol);
  if (!span) throw new MemoryError('not_found', `${path} does not declare ${symbol}`);
  if (span.last > text.lineCount) {
    throw new MemoryError('invalid_input', `${path} has only ${text.lineCount} lines`);
  }
  const fingerprint = text.fingerprint(span);
  if (!fingerprint) throw new MemoryError('invalid_input', 'these lines are blank');
  return { path, lines, symbol, fingerprint };
}
