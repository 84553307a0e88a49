import type { App } from '../../app/app.ts';
import type { LegacyLines } from './legacy-lines.ts';
import { ModernLines } from './modern-lines.ts';
import { ModernServer } from './modern-server.ts';
import type { JsonLines } from './stdio.ts';

/**
 * Serves one client over stdio until it disconnects and its last call is answered.
 *
 * Each message shows its era: a client may discover first, and then initialize all the same.
 */
export async function serveStdio(app: App, lines: JsonLines, version: string): Promise<void> {
  const modern = new ModernLines(new ModernServer(app, version), lines);
  let legacy: Promise<LegacyLines> | undefined;
  let fail = (_error: unknown) => {};
  const ended = new Promise<void>((resolve, reject) => {
    lines.onend = resolve;
    fail = reject;
  });
  lines.onvalue = (value) => {
    if (modern.receive(value)) return;
    // A client of the current revision does not wait for the SDK.
    legacy ??= import('./legacy-modules.ts')
      .then(({ importLegacyLines }) => importLegacyLines())
      .then(({ connectLines }) => connectLines(app, lines, version));
    legacy.then(({ receive }) => receive(value)).catch(fail);
  };
  lines.start();
  await ended;
  await Promise.all([modern.leave(), legacy?.then(({ leave }) => leave())]);
}
