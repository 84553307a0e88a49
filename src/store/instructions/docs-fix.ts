import { randomBytes } from 'node:crypto';
import type { DocFinding, DocsReport } from '../../core/evidence/doc-finding.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { storageError } from '../../git/disk/storage-error.ts';
import { decodeDoc, maxDocBytes } from './doc-files.ts';
import { placesOf } from './name-places.ts';

/**
 * Writes the new names of claims into their files, and nothing else. The files are the user's own, so they
 * are not committed. A file that is not UTF-8 stays.
 *
 * @param inTree returns a path of the report as the work tree has it.
 * @returns the paths of the changed files.
 */
export async function fixDocs(
  repository: Repository,
  { files }: DocsReport,
  inTree: (path: string) => string,
): Promise<readonly string[]> {
  const fixed: string[] = [];
  for (const { path, findings } of files) {
    if (await rewrite(repository, inTree(path), findings)) fixed.push(path);
  }
  return fixed;
}

async function rewrite(
  { work, unflushed }: Repository,
  path: string,
  findings: readonly DocFinding[],
): Promise<boolean> {
  const loaded = work.load(path, maxDocBytes);
  const before = loaded?.bytes;
  const text = before && decodeDoc(before);
  if (!before || text === undefined || !Buffer.from(text).equals(before)) return false;
  const lines = text.split('\n');
  for (const { kind, line, text: claim, now } of findings) {
    const old = lines[line - 1];
    if (now === undefined || old === undefined) continue;
    lines[line - 1] = withName(old, claim, now, kind === 'link');
  }
  const after = Buffer.from(lines.join('\n'));
  if (after.equals(before)) return false;
  const at = `${work.root}/${path}`;
  const temporary = `${at}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await unflushed.create(temporary, [after], 0o600, (loaded?.stat.mode ?? 0o644) & 0o777);
    unflushed.files.replace(temporary, at);
  } catch (error) {
    unflushed.tryDiscard(temporary);
    throw error instanceof MemoryError ? error : storageError(error, `write ${path}`);
  }
  return true;
}

/** A line with all places of a claim renamed; the target of a link only where it is one. */
function withName(line: string, claim: string, now: string, isLink: boolean): string {
  let result = '';
  let from = 0;
  for (const at of placesOf(line, claim)) {
    if (at < from || (isLink && !/[(<"' ]/.test(line[at - 1] ?? ''))) continue;
    result += line.slice(from, at) + now;
    from = at + claim.length;
  }
  return result + line.slice(from);
}
