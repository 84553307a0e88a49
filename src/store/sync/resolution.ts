import type { Conflict, Decisions } from '../../core/memory/conflict.ts';
import { conflictAddress } from '../../core/memory/conflict-address.ts';
import type { Resolution, UnmergedRecord } from '../../core/memory/history.ts';
import { invalid } from '../../core/values/error.ts';
import type { ResolvedFile } from '../../git/commit/resolve-merge.ts';
import type { Unmerged, UnmergedVersion } from '../../git/index/index-file.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { logOfEntry } from '../layout/log-paths.ts';
import { mapSides } from '../merge/diff3.ts';
import { isSame, type MergedFile } from '../merge/merge-file.ts';
import { maxFileBytes } from '../records/record-file.ts';
import { forbidden } from '../records/record-reader.ts';
import { Decided } from './decided.ts';

/** The result for one file. */
type Verdict =
  | { readonly as: 'resolved' | 'edited'; readonly settled?: ResolvedFile }
  | ({ readonly as: 'conflict'; readonly settled?: ResolvedFile } & Omit<Conflict, 'path'>);

const plainModes = [0o100644, 0o100755];

/** Finishes the merge of the memory; see `History`. */
export async function resolve(reader: HistoryReader, decisions: Decisions): Promise<Resolution> {
  const { history, access, rights } = reader;
  const { memory, repository } = history;
  const folder = `${memory.inTree('')}/`;
  const resolved: string[] = [];
  const conflicts: Conflict[] = [];
  const edited: string[] = [];
  const elsewhere: string[] = [];
  await repository.settleMerge(async (unmerged) => {
    const decided = new Decided(history.memory.types, decisions);
    const memory = unmerged.filter(({ path }) => path.startsWith(folder));
    const paths = memory.map(({ path }) => path.slice(folder.length));
    checkDecisions(decisions, paths);
    elsewhere.push(...unmerged.flatMap(({ path }) => (path.startsWith(folder) ? [] : [path])));
    const settled = memory.flatMap((file, i) => {
      const path = paths[i] ?? '';
      if (!access.mayWrite(path)) throw forbidden('change', path, access);
      const verdict = judge(reader, file, path, decided);
      if (verdict.as === 'conflict') {
        const { reasons, fields } = verdict;
        conflicts.push({ path, reasons, fields: access.mayRead(path) ? fields : [] });
      } else (verdict.as === 'edited' ? edited : resolved).push(path);
      return verdict.settled ?? [];
    });
    decided.checkState();
    return settled;
  }, rights.signal);
  const isDone = conflicts.length + edited.length + elsewhere.length === 0;
  const next = isDone ? repository.underWay()?.wayOut : undefined;
  return { resolved, conflicts, edited, elsewhere, next };
}

/** Lists the records that git has as unmerged; see `History`. */
export function unmerged({ history, access }: HistoryReader): readonly UnmergedRecord[] {
  const { memory, repository } = history;
  const { odb } = repository;
  const folder = memory.inTree('');
  const text = (version: UnmergedVersion | undefined) =>
    version && plainModes.includes(version.mode) && odb.size(version.oid) <= maxFileBytes
      ? odb.content(version.oid, 'blob').toString('utf8')
      : undefined;
  return repository.unmergedBelow(folder).flatMap((file) => {
    const path = folder === '' ? file.path : file.path.slice(folder.length + 1);
    if (!access.mayRead(path)) return [];
    return [{ path, ours: text(file.ours), theirs: text(file.theirs) }];
  });
}

/** @throws MemoryError `invalid_input` for a decision about a path without a conflict. */
function checkDecisions(decisions: Decisions, paths: readonly string[]): void {
  const given = {
    ours: decisions.ours,
    theirs: decisions.theirs,
    texts: [...(decisions.texts?.keys() ?? [])],
  };
  for (const side of ['ours', 'theirs', 'texts'] as const) {
    const wrong = given[side].find(
      (one) =>
        !paths.some(
          (path) =>
            one === path ||
            one.startsWith(conflictAddress(path, '')) ||
            (side !== 'texts' && one === logOfEntry(path)),
        ),
    );
    if (wrong === undefined) continue;
    const known =
      paths.length === 0 ? 'No record is.' : `Records in conflict: ${paths.join(', ')}.`;
    throw invalid([side], `${wrong} is not in conflict. ${known}`);
  }
}

function judge(
  { history: { memory, repository } }: HistoryReader,
  { path: place, ...versions }: Unmerged,
  path: string,
  decided: Decided,
): Verdict {
  const modes = Object.values(versions).flatMap((version: UnmergedVersion | undefined) =>
    version ? [version.mode] : [],
  );
  if (modes.some((mode) => !plainModes.includes(mode))) {
    return { as: 'conflict', reasons: ['it is not a regular file'], fields: [] };
  }
  const { odb, work } = repository;
  const isLarge = (version: UnmergedVersion | undefined) =>
    version !== undefined && odb.size(version.oid) > maxFileBytes;
  if (Object.values(versions).some(isLarge)) {
    return { as: 'conflict', reasons: ['one of its versions is too large to be read'], fields: [] };
  }
  const seen = work.read(place, maxFileBytes);
  const sides = mapSides(versions, (version) => version && odb.content(version.oid, 'blob'));
  const mode = (versions.ours ?? versions.theirs)?.mode ?? 0o100644;
  const { text: written, fields, others } = decided.of(path);
  if (written !== undefined) {
    const bytes = Buffer.from(written);
    memory.adoption()(path, bytes, sides.ours ?? sides.theirs);
    memory.view.typeOf(path)?.codec.decode(written, path);
    return { as: 'resolved', settled: { path: place, bytes, seen, mode, staged: true } };
  }
  const merged = isRenamed(versions) ? renamed(sides, others) : decided.merge(path, place, sides);
  const settled = { path: place, bytes: merged.bytes, seen, mode, staged: !merged.conflict };
  const known = [...Object.values(sides), merged.bytes];
  const isEdited = !hasMarkers(seen) && !known.some((bytes) => isSame(bytes, seen));
  if (isEdited && others === undefined && fields.size === 0) return { as: 'edited' };
  if (!merged.conflict) return { as: 'resolved', settled };
  const found = { reasons: merged.notes, fields: merged.fields };
  // Git merges line by line, so it may have marked more than what conflicts.
  return { as: 'conflict', ...found, ...(hasMarkers(seen) && { settled }) };
}

/** Whether the path comes from a rename: only one side has it, and git would merge a mere addition. */
function isRenamed({ base, ours, theirs }: Omit<Unmerged, 'path'>): boolean {
  return base === undefined && (ours === undefined) !== (theirs === undefined);
}

/** Merges a file that the other side renamed in another way. */
function renamed(
  sides: { readonly ours: Buffer | undefined; readonly theirs: Buffer | undefined },
  side: 'ours' | 'theirs' | undefined,
): MergedFile {
  if (side) return { bytes: sides[side], conflict: false, notes: [], fields: [] };
  const notes = ['both sides renamed the file, to different names'];
  return { bytes: sides.ours ?? sides.theirs, conflict: true, notes, fields: [] };
}

function hasMarkers(bytes: Buffer | undefined): boolean {
  const text = bytes?.toString('latin1') ?? '';
  return /^<{7}/m.test(text) && /^>{7}/m.test(text);
}
