const date = String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[^\])\s]*)?`;
const dateAtStart = new RegExp(
  `^(?:\\[${date}\\]|\\(${date}\\)|${date}(?=[\\s:]))(?:\\s*[-–—:|])?\\s*`,
);
const dateAtEnd = new RegExp(`\\s+(?:[-–—|]\\s+)?(?:\\[${date}\\]|\\(${date}\\)|${date})\\s*$`);

/** Returns a title without the date that a log adds to it, at its beginning or its end. */
export function withoutDate(heading: string): string {
  const line = heading.trim();
  return line.replace(dateAtStart, '').replace(dateAtEnd, '') || line;
}

/** Returns the day of the date that `withoutDate` removes: `2026-01-31`; undefined without one. */
export function dateOf(heading: string): string | undefined {
  const line = heading.trim();
  const [written] = dateAtEnd.exec(line) ?? dateAtStart.exec(line) ?? [];
  return /\d{4}-\d\d-\d\d/.exec(written ?? '')?.[0];
}
