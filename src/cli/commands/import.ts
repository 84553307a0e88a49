import { resolve } from 'node:path';
import { type ImportReport, importSources } from '../../app/exchange/importer.ts';
import { noteNewRepository } from '../../app/session/call-report.ts';
import { findRoot } from '../../app/session/root.ts';
import type { Remark } from '../../core/declarations/exchange-format.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagText } from '../line/command.ts';
import { outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import type { Screen } from '../screen/terminal.ts';

/** `memory-bank import [source]`: imports the memory of other programs. */
export const importCommand: Command = {
  about: 'import the memory of other programs; without a source, what this project has of them',
  operands: ['source?'],
  flags: {
    from: {
      value: 'source-format',
      about: 'read the source as this format',
      default: 'recognized from the files',
    },
    'dry-run': { about: 'only report what would be imported' },
    overwrite: { about: 'replace records that differ', default: 'keep and report them' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, options, operands, values } = invocation;
    const { cwd, env } = options.place;
    const [given] = operands;
    const root = await findRoot({ ...options.place, clientRoots: async () => [] });
    // The program of seed 004 keeps its store in the folder that this variable names.
    const paths =
      given === undefined ? [root.path, ...(env.MEMORY_PATH ? [env.MEMORY_PATH] : [])] : [given];
    const dryRun = values['dry-run'] === true;
    const request = {
      from: flagText(values, 'from'),
      dryRun,
      overwrite: values.overwrite === true,
    };
    const reports = await inSession(invocation, async (session, call) => {
      const all: ImportReport[] = [];
      const missing: MemoryError[] = [];
      for (const path of paths.map((one) => resolve(cwd, one))) {
        try {
          all.push(...(await importSources(app, session, { ...request, path }, call)));
        } catch (error) {
          if (!(error instanceof MemoryError) || error.code !== 'not_found') throw error;
          missing.push(error);
        }
      }
      const [first] = missing;
      if (all.length === 0 && first) throw first;
      return all;
    });
    await showResult(values, { reports: reports.map(reportJson) }, (screen) =>
      reports.flatMap((report) => reportLines(screen, report, dryRun)),
    );
    return 0;
  },
};

function reportJson({ commits, ...report }: ImportReport) {
  return {
    ...report,
    commits: commits.map(({ oid, branch }) => ({ oid, branch: branch ?? null })),
  };
}

function reportLines(screen: Screen, report: ImportReport, dryRun: boolean): string[] {
  const { created, replaced, unchanged, kept, left, notes, commits } = report;
  const counts = [
    [created.length, dryRun ? 'to import' : 'imported'],
    [replaced.length, dryRun ? 'to replace' : 'replaced'],
    [unchanged, 'as before'],
    [kept.length, 'kept, the source differs'],
    [left.length, 'left out'],
  ] as const;
  const summary = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const made = commits.map(({ oid }) => `, commit ${oid.slice(0, 12)}`).join('');
  const remarks = (style: 'bad' | 'faint', list: readonly Remark[]) =>
    list.map(({ from, message }) => `  ${screen.paint(style, `${from}: ${message}`)}`);
  return [
    `${screen.paint('title', report.source)} (${report.format}): ${summary.join(', ') || 'nothing in it'}${made}`,
    ...remarks('bad', left),
    ...remarks('bad', kept),
    ...remarks('faint', notes),
    ...commits.flatMap(({ newRepository }) =>
      newRepository === undefined ? [] : `  ${screen.plain(noteNewRepository(newRepository))}`,
    ),
  ];
}
