import type { ExchangeFormat } from '../../core/declarations/exchange-format.ts';
import type { Session } from '../../core/memory/session.ts';
import type { CautionsByPath } from '../../core/memory/store.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { App } from '../app.ts';
import { recordTexts } from '../project/record-text.ts';
import type { CallOptions } from '../session/call-context.ts';
import { formatsOf } from './importer.ts';
import { cautionsOfAll, writeMarkdown } from './markdown-report.ts';

/** The format that has the whole memory as one text, for people. */
const reportFormat = 'markdown';

/** The format that has the pages for people, which are not known here. */
export const siteFormat = 'site';

/** Returns the names of the formats of `export`, with a short description each. */
export async function exportNames(app: App): Promise<ReadonlyMap<string, string>> {
  return new Map([
    [reportFormat, 'everything as one text'],
    [siteFormat, 'the pages of "view" as files that need no server'],
    ...(await formatsOf(app)).flatMap(({ name, title, write }) =>
      write ? [[name, title] as const] : [],
    ),
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
): Promise<ReadonlyMap<string, string>> {
  const format = (await formatsOf(app)).find((one) => one.name === name);
  if (name !== reportFormat && !format?.write) throw await notExported(app, name, format);
  const toolsets = await app.toolsets();
  const files = await app.run(session, 'export', options, async (context) => {
    if (!format?.write) return writeMarkdown(toolsets, context);
    const { store: project, home, history } = context;
    const { projectId } = await context.project.info();
    return format.write({ project, home, projectId, history, texts: () => recordTexts(context) });
  });
  if (files.size > 0) return files;
  if (!format) throw new MemoryError('not_found', 'The memory has no records yet.');
  const what = `the format ${name} (${format.title})`;
  throw new MemoryError('not_found', `The memory has no records for ${what}.`, {
    hint: allRecords,
  });
}

const allRecords = `The formats ${reportFormat} and ${siteFormat} have every record.`;

/** Makes the error about a format that the memory is not exported to. */
async function notExported(
  app: App,
  name: string,
  format: ExchangeFormat | undefined,
): Promise<MemoryError> {
  if (format) {
    const message = `The format ${name} can be imported, but not exported.`;
    return new MemoryError('invalid_input', message, { hint: allRecords });
  }
  const hint =
    name === 'html'
      ? 'One page with everything is: memory-bank export site memory.html.'
      : `The formats are: ${[...(await exportNames(app)).keys()].join(', ')}.`;
  return new MemoryError('invalid_input', `There is no format "${name}".`, { hint });
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
