import type { Session } from '../../core/memory/session.ts';
import type { CautionsByPath } from '../../core/memory/store.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { App } from '../app.ts';
import type { CallOptions } from '../session/call-context.ts';
import { cautionsOfAll, writeHtml, writeMarkdown } from './html-report.ts';
import { formatsOf } from './importer.ts';

/** Reports of the whole memory in one file, for people. */
const reports = new Map([
  ['markdown', writeMarkdown],
  ['html', writeHtml],
]);

/** The format that has the pages for people, which are not known here. */
export const siteFormat = 'site';

/** Returns the names of the formats of `export`, with a short description each. */
export async function exportNames(app: App): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['markdown', 'everything as one text'],
    ['html', 'everything as one page'],
    [siteFormat, 'the pages of "view" as files that need no server'],
    ...(await formatsOf(app)).map(({ name, title }) => [name, title] as const),
  ]);
}

/**
 * Returns the memory in the format of another program, or as a report: content by path.
 *
 * @throws MemoryError `invalid_input` for an unknown format, `not_found` if the memory has nothing
 *   that the format can contain.
 */
export async function exportMemory(
  app: App,
  session: Session,
  name: string,
  options: CallOptions,
): Promise<ReadonlyMap<string, string | Uint8Array>> {
  const report = reports.get(name);
  const format = (await formatsOf(app)).find((one) => one.name === name);
  if (!report && !format) {
    throw new MemoryError('invalid_input', `There is no format "${name}".`, {
      hint: `The formats are: ${[...(await exportNames(app)).keys()].join(', ')}.`,
    });
  }
  const toolsets = await app.toolsets();
  const files = await app.run(session, 'export', options, async (context) => {
    if (report) return report(toolsets, context);
    const { store: project, home } = context;
    const { projectId } = await context.project.info();
    return format?.write({ project, home, projectId }) ?? new Map<string, string>();
  });
  if (files.size > 0) return files;
  if (!format) throw new MemoryError('not_found', 'The memory has no records yet.');
  const what = `the format ${name} (${format.title})`;
  throw new MemoryError('not_found', `The memory has no records for ${what}.`, {
    hint: 'The formats markdown, html and site have every record.',
  });
}

/** Returns why readers should not rely on records: the files of other programs have no room for it. */
export async function exportedCautions(
  app: App,
  session: Session,
  options: CallOptions,
): Promise<CautionsByPath> {
  const toolsets = await app.toolsets();
  return app.run(session, 'export', options, (context) => cautionsOfAll(toolsets, context));
}
