/** Differences up to this are the way of an answer, and the seconds of its header; in milliseconds. */
const tolerance = 60_000;

/** How far the clock of the browser is behind that of the server, in milliseconds. */
let behind = 0;

/** Compares the clock of the browser with that of the server, whose times the records have. */
export function compareClocks({ headers }: Response): void {
  const difference = Date.parse(headers.get('Date') ?? '') - Date.now();
  if (!Number.isNaN(difference)) behind = Math.abs(difference) < tolerance ? 0 : difference;
}

/** The time by the clock of the server, in milliseconds; a copy has that of the browser. */
export function timeNow(): number {
  return Date.now() + behind;
}
