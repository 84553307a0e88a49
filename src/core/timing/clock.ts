/**
 * The time of a clock that never goes back, in milliseconds.
 *
 * `performance.now()` would load a module of Node.js before the first answer of a process.
 */
export function monotonicTime(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
