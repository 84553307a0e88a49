/** Characters of a text processed in one step. */
const pieceLength = 16 * 1024;

/** Divides a text into pieces that end after white space, so that no word is cut. */
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
