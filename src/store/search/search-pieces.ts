/** How much of a text is looked at in one step. */
const pieceLength = 16 * 1024;

/** The pieces of a text, one after the other: they end behind white space, where a word cannot go on. */
export function* pieces(
  text: string,
): Generator<{ readonly start: number; readonly piece: string }> {
  if (text.length <= pieceLength) return yield { start: 0, piece: text };
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    yield { start, piece: text.slice(start, end) };
    start = end;
  }
}

function pieceEnd(text: string, start: number): number {
  const most = start + pieceLength;
  if (most >= text.length) return text.length;
  for (let end = most; end > start + pieceLength / 2; end--) {
    if (/\s/.test(text[end - 1] ?? '')) return end;
  }
  return most;
}
