import type { Oid } from '../objects/object.ts';
import { noObject, type ObjectFormat } from '../objects/object-format.ts';
import { readBitmap } from './bitmap.ts';
import { fixedSizeOf, type IndexBlock } from './index-block.ts';
import { damaged } from './index-extensions.ts';
import { formatName } from './index-name.ts';

/** Reads the shared index with an id, which is the checksum at its end; undefined if the file is gone. */
export type ReadShared = (oid: Oid) => Buffer | undefined;

/** A line in its raw bytes, those before the name apart. */
interface RawLine {
  readonly name: Buffer;
  readonly stage: number;
  readonly fixed: Buffer;
}

/**
 * The shared index that a split index changes; undefined if it names none.
 *
 * @param link content of the extension.
 */
export function sharedOf(link: Buffer, format: ObjectFormat, read: ReadShared): Buffer | undefined {
  if (link.length < format.size) throw damaged();
  const oid = link.toString('hex', 0, format.size);
  if (oid === noObject(format)) return undefined;
  const bytes = read(oid);
  if (bytes?.toString('hex', Math.max(bytes.length - format.size, 0)) !== oid) throw damaged();
  return bytes;
}

/**
 * Puts the lines of a split index over those of its shared one (gitformat-index, "Split index"). The first
 * ones have no names: they are new values of lines there. The others are added.
 *
 * @param link content of the extension: which lines there are removed, and which have other values.
 * @param compressed whether the result has the names of version 4.
 */
export function joinLines(
  link: Buffer,
  own: readonly IndexBlock[],
  shared: readonly IndexBlock[],
  compressed: boolean,
  format: ObjectFormat,
): { readonly bytes: Buffer; readonly count: number; readonly hasMoreFlags: boolean } {
  const there = shared.flatMap(rawLines);
  const removed = readBitmap(link, format.size, there.length);
  const replaced = readBitmap(link, removed.next, there.length).bits;
  const [values, added] = partition(own.flatMap(rawLines));
  if (values.length !== replaced.length || added.some(({ name }) => name.length === 0)) {
    throw damaged();
  }
  const gone = new Set(removed.bits);
  const changed = new Map(replaced.map((position, i) => [position, values[i]]));
  const stages = new Map<string, Set<number>>();
  for (const { name, stage } of added) {
    const key = name.toString('latin1');
    stages.set(key, (stages.get(key) ?? new Set()).add(stage));
  }
  const kept = there.flatMap((line, position) => {
    if (gone.has(position)) return [];
    const { stage, fixed } = changed.get(position) ?? line;
    const others = stages.get(line.name.toString('latin1'));
    // A merged file takes the place of all its versions.
    return others?.has(stage) || others?.has(0) ? [] : [{ name: line.name, stage, fixed }];
  });
  const lines = [...kept, ...added].sort(
    (a, b) => Buffer.compare(a.name, b.name) || a.stage - b.stage,
  );
  const flagsAt = fixedSizeOf(format) - 2;
  let before: Buffer | undefined;
  const pieces = lines.flatMap(({ name, fixed }) => {
    const copy = Buffer.from(fixed);
    copy.writeUInt16BE(
      (copy.readUInt16BE(flagsAt) & 0xf000) | Math.min(name.length, 0xfff),
      flagsAt,
    );
    const end = formatName(name, copy.length, compressed ? (before ?? Buffer.alloc(0)) : undefined);
    before = name;
    return [copy, end];
  });
  const hasMoreFlags = lines.some(({ fixed }) => fixed.length > flagsAt + 2);
  return { bytes: Buffer.concat(pieces), count: lines.length, hasMoreFlags };
}

function rawLines(block: IndexBlock): RawLine[] {
  return Array.from({ length: block.count }, (_, at) => {
    const { name, stage } = block.line(at);
    return { name, stage, fixed: block.fixed(at) };
  });
}

/** The lines without names at the beginning, and the rest. */
function partition(lines: readonly RawLine[]): [values: RawLine[], added: RawLine[]] {
  const end = lines.findIndex(({ name }) => name.length > 0);
  const at = end < 0 ? lines.length : end;
  return [lines.slice(0, at), lines.slice(at)];
}
