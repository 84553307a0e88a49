/** A part of a text: a section or the whole, from a character on. */
export interface TextPart {
  /** Undefined for the whole text. */
  readonly section: string | undefined;
  /** Characters to skip. */
  readonly from: number;
}

/** Reads the argument `section`: `Use git`, `characters 60000-` or `Use git, characters 60000-`. */
export function parsePart(text: string): TextPart {
  const [, section, from] = /^(?:(.*\S), )?characters (\d{1,9})-$/su.exec(text.trim()) ?? [];
  if (from !== undefined) return { section, from: Number(from) };
  return { section: /\S/.test(text) ? text : undefined, from: 0 };
}

export function formatPart({ section, from }: TextPart): string {
  const characters = `characters ${from}-`;
  return section === undefined ? characters : `${section}, ${characters}`;
}
