import { utimes } from 'node:fs';

/** The interval between two touches, in milliseconds; `build.js` keeps a build for a day after one. */
const interval = 60 * 60 * 1000;

/**
 * Marks the build that this process runs as in use, so that later builds do not remove it.
 *
 * A server loads its chunks when they are first needed, which may be days after its start.
 */
export function leaseBuild(): void {
  const folder = /^.*[\\/]builds[\\/][0-9a-f]{16}(?=[\\/]|$)/.exec(import.meta.dirname)?.[0];
  if (folder === undefined) return;
  // An installation may be read-only; nothing rebuilds it then.
  const touch = () => utimes(folder, new Date(), new Date(), () => {});
  // The client waits for the first answer.
  setTimeout(touch, 1_000).unref();
  setInterval(touch, interval).unref();
}
