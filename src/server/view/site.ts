import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import type { App } from '../../app/app.ts';
import type { CallOptions } from '../../app/session/call-context.ts';
import type { Session } from '../../core/memory/session.ts';
import { lettersOf } from '../copy/part-letters.ts';
import { copyParts } from './site-parts.ts';
import { statesWithin } from './site-states.ts';

/** The files of a copy, and the pages that show them. */
export interface SiteSettings {
  /** The folder with the bundled files of the pages. */
  readonly folder: string;
  /** The name of the page, if all is to be in this one file. */
  readonly single: string | undefined;
  /** The names of other branches that are to be in the copy, also those of reviews. */
  readonly branches: readonly string[];
}

/** The size of a copy, in bytes: past states that would make it larger are left out, unless they are few. */
function bytesFor(records: number): number {
  return Math.max(1, records / 300) * (2_000_000 - pageBytes);
}
/** The files of a copy that are not parts, at most, and the room that past states always have. */
const pageBytes = 20_000;
const leastForStates = 50_000;

/** Returns a read-only copy of the pages, which needs no server: content by file name. */
export function siteFiles(
  app: App,
  session: Session,
  settings: SiteSettings,
  options: CallOptions,
): Promise<ReadonlyMap<string, string>> {
  return app.run(session, 'export', options, async (context) => {
    const toolsets = await app.toolsets();
    const types = toolsets.flatMap(({ records }) => records);
    const inReview = () => Promise.reject(new Error('A copy decides nothing.'));
    const catalogue = { toolsets, types, inReview };
    const script = await readFile(join(settings.folder, 'copy.js'), 'utf8');
    const { parts, states } = await copyParts(context, catalogue, settings.branches);
    const others = packed(parts.set('page', script));
    const letters = [...others.values()].reduce((sum, one) => sum + one.length, 0);
    const room = Math.max(leastForStates, bytesFor(states.length) - letters);
    const past = [...statesWithin(states, room)].map(
      ([number, part]) => [`states-${number}`, part] as const,
    );
    const site = {
      folder: settings.folder,
      script,
      parts: new Map([...others, ...packed(new Map(past))]),
    };
    return settings.single === undefined ? severalFiles(site) : oneFile(site, settings.single);
  });
}

/** A copy before it is divided into files. */
interface Site {
  /** The folder with the bundled files of the pages. */
  readonly folder: string;
  /** The script of the pages, which is also a part. */
  readonly script: string;
  readonly parts: ReadonlyMap<string, string>;
}

/** Returns the parts as letters: compressed JSON, or compressed bytes. */
function packed(parts: ReadonlyMap<string, unknown>): ReadonlyMap<string, string> {
  return new Map(
    [...parts].map(([name, part]) => {
      const content = part instanceof Uint8Array ? part : JSON.stringify(part);
      return [name, lettersOf(deflateRawSync(content, { level: 9 }))];
    }),
  );
}

const head = /<link rel="icon"[\s\S]*<\/script>\n/;

/** Returns the page with its script and data next to it. */
async function severalFiles({ folder, script, parts }: Site): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  // A browser may see each file as an origin of its own.
  const policy = `default-src 'none'; script-src 'self' file: ${hashOf(script)}; style-src 'self' file:; img-src 'self' file:`;
  const links = [
    '<link rel="icon" href="icon.svg">',
    '<link rel="stylesheet" href="style.css">',
    '<script src="page.js" defer></script>',
  ];
  files.set(
    'index.html',
    (await page(folder, policy)).replace(head, () => `${links.join('\n')}\n`),
  );
  files.set('page.js', await readFile(join(folder, 'copy-start.js'), 'utf8'));
  for (const name of ['style.css', 'icon.svg']) {
    files.set(name, await readFile(join(folder, name), 'utf8'));
  }
  for (const [name, part] of parts) {
    files.set(`data/${name}.js`, `memoryPart("${name}","${part}");\n`);
  }
  return files;
}

/** Returns the page with its script, style sheet and data in it. */
async function oneFile(
  { folder, script, parts }: Site,
  name: string,
): Promise<ReadonlyMap<string, string>> {
  const start = await readFile(join(folder, 'copy-start.js'), 'utf8');
  const style = await readFile(join(folder, 'style.css'), 'utf8');
  const policy = `default-src 'none'; script-src ${hashOf(start)} ${hashOf(script)}; style-src ${hashOf(style)}; img-src data:`;
  const inserted = [
    '<link rel="icon" href="data:,">',
    `<style>${style}</style>`,
    ...[...parts].map(
      ([name, part]) => `<script type="text/plain" id="part-${name}">${part}</script>`,
    ),
  ];
  const html = (await page(folder, policy))
    .replace(head, () => `${inserted.join('\n')}\n`)
    .replace('</body>', () => `<script>${start}</script>\n</body>`);
  return new Map([[name, html]]);
}

/** Returns the page as a copy, with its policy in it: a file has no headers. */
async function page(folder: string, policy: string): Promise<string> {
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  return html
    .replace('<html ', '<html data-copy ')
    .replace(
      '<meta name="viewport"',
      `<meta http-equiv="Content-Security-Policy" content="${policy}; base-uri 'none'; form-action 'none'">\n<meta name="viewport"`,
    );
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
