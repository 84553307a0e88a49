import { addTo } from '../../core/values/multimap.ts';
import { bytesOf, jsonBytes } from '../../store/derived/section-file.ts';
import { DeflatedTextsWriter } from '../../store/derived/text-list.ts';
import { positionIn } from '../../store/records/owned-paths.ts';
import type { Steps } from '../../store/records/slices.ts';
import type { FilesState, QuickMemory } from '../../store/session/quick-memory.ts';
import { relevanceKeys } from '../../toolsets/brief/branch-relevance.ts';
import { type KeyedPassage, surestFirst } from '../../toolsets/brief/keyed-passage.ts';
import { maxQuoted } from '../../toolsets/brief/layout.ts';
import { newestFirst } from '../../toolsets/brief/session-brief.ts';
import {
  type BaseFacts,
  baseContent,
  baseKind,
  maxBaseBytes,
  type StoredPassage,
  type StoredPoint,
  type StoredPoints,
  type StoredRecord,
} from './digest-base.ts';
import { type DigestRecord, pointParts } from './digest-record.ts';
import { encodeKeyedRows } from './keyed-rows.ts';
import { dateAt, placeOfSection } from './record-dates.ts';

/**
 * Encodes the base of a digest in steps, as `DigestBase` reads it.
 *
 * @param facts those that do not follow from the records.
 */
export function* encodeBase(
  { paths, stats }: FilesState,
  records: readonly DigestRecord[],
  facts: Omit<BaseFacts, 'counts'>,
): Steps<Uint8Array[]> {
  const recordOf = new Uint32Array(paths.length);
  const texts = new DeflatedTextsWriter();
  const rowsByLink = new Map<string, number[]>();
  for (const [number, { path, points, text, note, dates, links }] of records.entries()) {
    const position = positionIn(paths, path);
    if (paths[position] === path) recordOf[position] = number + 1;
    const stored = points.map(({ part, text: said, at, section }) => {
      const place = placeOfSection(text, section);
      const shown = said.slice(0, maxQuoted);
      const changed = dateAt(dates, place) ?? null;
      return [part, shown, at ?? null, place ?? null, changed] satisfies StoredPoint;
    });
    texts.add(JSON.stringify([path, stored] satisfies StoredPoints));
    texts.add(JSON.stringify([...text, note, dates] satisfies StoredRecord));
    for (const link of links) addTo(rowsByLink, link, position);
    yield;
  }
  const ordered = pointParts.map((part) =>
    records
      .flatMap(({ points }, record) => points.map((point, index) => ({ point, record, index })))
      .filter(({ point }) => point.part === part)
      .sort((a, b) => newestFirst(a.point, b.point)),
  );
  yield;
  const rowsByKey = new Map<string, number[]>();
  for (const [row, { point }] of ordered.flat().entries()) {
    for (const key of relevanceKeys(point)) addTo(rowsByKey, key, row);
    yield;
  }
  const passages = new DeflatedTextsWriter();
  const rowsByName = new Map<string, number[]>();
  const found: KeyedPassage[] = [];
  for (const record of records) {
    found.push(...record.passages());
    yield;
  }
  found.sort(surestFirst);
  for (const [row, { path, entry, text, at, rank, files, keys }] of found.entries()) {
    const stored = [path, entry ?? null, text, at ?? null, rank, files] satisfies StoredPassage;
    passages.add(JSON.stringify(stored));
    for (const key of keys) addTo(rowsByName, key, row);
    yield;
  }
  const pathsAt = new Uint32Array(paths.length);
  let end = -1;
  for (const [at, path] of paths.entries()) {
    end += 1 + Buffer.byteLength(path);
    pathsAt[at] = end;
  }
  const order = ordered.flatMap((part) => part.flatMap(({ record, index }) => [record, index]));
  return [
    jsonBytes({ counts: ordered.map(({ length }) => length), ...facts } satisfies BaseFacts),
    Buffer.from(paths.join('\0')),
    bytesOf(pathsAt),
    bytesOf(stats),
    bytesOf(recordOf),
    bytesOf(Uint32Array.from(order)),
    ...texts.finish(),
    ...passages.finish(),
    ...encodeKeyedRows(rowsByName),
    ...encodeKeyedRows(rowsByKey),
    ...encodeKeyedRows(rowsByLink),
  ];
}

/** Replaces the base of a digest unless it would be too large; returns the id of its content. */
export async function writeBase(
  memory: QuickMemory,
  encoded: readonly Uint8Array[],
): Promise<string | undefined> {
  const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
  return bytes > maxBaseBytes ? undefined : memory.write(baseKind, baseContent, encoded);
}
