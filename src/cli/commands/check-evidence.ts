import { redactText } from '../../app/app.ts';
import { countFindings } from '../../app/health/check-line.ts';
import { counted, paintDiff } from '../../core/answers/painter.ts';
import type { Severity } from '../../core/evidence/finding-kinds.ts';
import type { Lines } from '../../core/evidence/reference.ts';
import type {
  CheckFinding,
  CodePlace,
  EvidenceFinding,
  EvidenceReport,
  EvidenceRequest,
} from '../../core/evidence/verdict.ts';
import type { MemoryReport } from '../../core/memory/pinned-memories.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { MemoryError, toMemoryError } from '../../core/values/error.ts';
import { own } from '../../core/values/json.ts';
import { type Command, type FlagValues, flagText, type Invocation } from '../line/command.ts';
import { wordingFor } from '../line/error-wording.ts';
import { withPathOf } from '../line/record-lookup.ts';
import { outputFlag } from '../line/result.ts';
import { inReadingSession } from '../line/run-in-session.ts';
import { codeQuality } from '../report/code-quality.ts';
import { docsJson, docsLines } from '../report/docs-lines.ts';
import { githubAnnotations } from '../report/github-annotations.ts';
import { placedFindings, type ReportFormat } from '../report/placed-finding.ts';
import { sarifLog } from '../report/sarif-log.ts';
import { report as logReport } from '../screen/log.ts';
import { printable, Screen } from '../screen/terminal.ts';

/** Exit status of a check that could not run. */
const couldNotRun = 2;

const severities: readonly Severity[] = ['error', 'warning', 'notice', 'info'];

/** The forms of the report for code hosts. */
const hostFormats: { readonly [name: string]: ReportFormat } = {
  github: githubAnnotations,
  sarif: sarifLog,
  gitlab: codeQuality,
};

/** `memory-bank check [path]`: compares the code that records rest on with the code as it is now. */
export const check: Command = {
  about: 'compare records with the code; reports what has changed since they were written',
  operands: ['path?'],
  flags: {
    since: {
      value: 'revision',
      about: 'only records that name files which changed since HEAD and this revision diverged',
    },
    docs: {
      about: 'also compare instructions and documents, such as AGENTS.md, with the project',
    },
    fix: { about: 'write the new lines of given evidence that was moved, as one commit' },
    all: { about: 'also list the places that are as they were' },
    format: {
      value: 'text|json|github|sarif|gitlab',
      choices: ['text', 'json', ...Object.keys(hostFormats)],
      about: 'the form of the report: for people, for programs, or for a code host',
      default: 'text',
    },
    output: { ...outputFlag.output, about: 'json: the same as --format json' },
  },
  async run(invocation) {
    const { operands, values, version } = invocation;
    try {
      const format = formatOf(values);
      const { report, memories } = await read(invocation, {
        path: operands[0] === undefined ? undefined : pastedPath(operands[0]),
        since: flagText(values, 'since'),
        docs: values.docs === true ? true : undefined,
        fix: values.fix === true,
      });
      const shown = values.all === true ? severities : severities.slice(0, -1);
      const screen = new Screen();
      const ofHost = own(hostFormats, format);
      if (ofHost) await screen.showExactly(ofHost(placedFindings(report, shown), version));
      else if (format === 'json') {
        await screen.showJson({ ...toJson(report, shown), ...memoriesJson(memories) });
      } else {
        const since = flagText(values, 'since');
        const found = [...heading(report, since), ...lines(screen, report, shown)];
        const docs = docsLines(screen, report.docs);
        await screen.show([...found, ...docs, ...memoryLines(screen, memories)].join(''));
      }
      const isBad = ({ severity }: CheckFinding) => severity === 'error' || severity === 'warning';
      const isGood = report.records.every(({ findings }) => !findings.some(isBad));
      return isGood && (report.docs?.counts.drifted ?? 0) === 0 ? 0 : 1;
    } catch (error) {
      // Every status has one meaning for a program that calls this command.
      const problem = toMemoryError(error);
      if (problem.code === 'cancelled') throw error;
      if (problem !== error) logReport('error', redactText(String(error)));
      const word = await wordingFor();
      process.stderr.write(`memory-bank: ${printable(word(redactText(problem.text)))}\n`);
      return couldNotRun;
    }
  },
};

/**
 * The form of the report: `--output`, which every command has, is a second name of two of its values.
 *
 * @throws MemoryError `invalid_input` for two forms.
 */
function formatOf(values: FlagValues): string {
  const format = flagText(values, 'format');
  const output = flagText(values, 'output');
  if (format === undefined || output === undefined || format === output) {
    return format ?? output ?? 'text';
  }
  const problem = `--format ${format} and --output ${output} are two forms of one report.`;
  throw new MemoryError('invalid_input', problem, { hint: 'Give only --format.' });
}

function read({ app, ...invocation }: Invocation, request: EvidenceRequest) {
  return inReadingSession({ app, ...invocation }, (session, call) =>
    app.run(session, 'check', call, async (context) => {
      const { store, history, memories } = context;
      const { path } = request;
      if (path === undefined) {
        const report = await history.evidence(request);
        if (request.since === undefined) await countFindings(context, report);
        return { report, memories: await memories.check() };
      }
      const types = (await app.toolsets()).flatMap(({ records }) => records);
      const check = (found: string) => history.evidence({ ...request, path: found });
      return { report: await withPathOf(store, types, path, check), memories: [] };
    }),
  );
}

/** The notes about memories of others; they never fail a check, because they are not mended here. */
function memoriesJson(memories: readonly MemoryReport[]) {
  if (memories.length === 0) return {};
  return {
    memories: memories.map(({ name, commit, records, problem, notes }) => ({
      name,
      commit,
      records: records ?? null,
      ...(problem !== undefined && { problem }),
      notes,
    })),
  };
}

function memoryLines(screen: Screen, memories: readonly MemoryReport[]): string[] {
  const line = (path: string, message: string) =>
    `${screen.paint('faint', 'foreign '.padEnd(8))} ${screen.paint('key', path)}: ${screen.plain(message)}\n`;
  const all = memories.flatMap(({ name, problem, notes }) => [
    ...(problem === undefined ? [] : [line(name, problem)]),
    ...notes.map(({ path, message }) => line(path, message)),
  ]);
  return all.length > 0 ? ['\n', ...all] : [];
}

function toJson({ records, counts, docs, fixed }: EvidenceReport, shown: readonly Severity[]) {
  return {
    records: records.flatMap(({ path, findings }) => {
      const listed = findings.filter(({ severity }) => shown.includes(severity)).map(findingJson);
      return listed.length === 0 ? [] : [{ path, findings: listed }];
    }),
    counts,
    ...(docs && { docs: docsJson(docs) }),
    ...(fixed && { fixed }),
  };
}

function findingJson(finding: CheckFinding) {
  return finding.kind === 'evidence' ? evidenceJson(finding) : { ...finding };
}

function evidenceJson(finding: EvidenceFinding) {
  const { kind, verdict, severity, evidence, now, commit, diff, line, message, mend } = finding;
  const { stored } = finding;
  const { path, lines, symbol, source } = evidence;
  return {
    kind,
    verdict,
    severity,
    evidence: {
      path,
      lines: linesJson(lines),
      ...(symbol !== undefined && { symbol }),
      source,
    },
    now: now ? placeJson(now) : null,
    commit: commit ?? null,
    ...(line !== undefined && { line }),
    ...(stored !== undefined && { stored }),
    message,
    ...(diff !== undefined && { diff }),
    ...(mend !== undefined && { mend }),
  };
}

function placeJson({ path, lines }: CodePlace) {
  return { path, lines: linesJson(lines) };
}

function linesJson(lines: Lines | undefined) {
  return lines ? [lines.first, lines.last] : null;
}

/** Says how many records rest on code that this branch changes. */
function heading({ records }: EvidenceReport, since: string | undefined): string[] {
  if (since === undefined) return [];
  const { length } = records.filter(({ findings }) =>
    findings.some((one) => 'verdict' in one && /^(?:changed|gone)$/.test(one.verdict)),
  );
  if (length === 0) return [];
  const rest = length === 1 ? '1 memory rests' : `${length} memories rest`;
  return [`Since ${since}, this branch changes the code that ${rest} on:\n\n`];
}

/** The findings as lines, the severest first, and a summary. */
function lines(
  screen: Screen,
  { records, counts, fixed = [] }: EvidenceReport,
  shown: readonly Severity[],
) {
  const all = records.flatMap(({ path, findings }) =>
    findings.map((finding) => ({ path, ...finding })),
  );
  const of = (wanted: Severity) => all.filter(({ severity }) => severity === wanted);
  const listed = shown.flatMap(of).map((finding) => {
    const { path, severity, message, mend, line, stored } = finding;
    // The lines of a log whose entries have files are those of no file.
    const place = line === undefined || stored ? path : `${path}:${line}`;
    const style = severity === 'error' || severity === 'warning' ? 'bad' : 'faint';
    const text = screen.message(message.replace(/\s+/g, ' '));
    const diff = finding.kind === 'evidence' ? diffLines(screen, finding.diff) : '';
    const help = mend === undefined ? '' : `  mend: ${screen.plain(mend)}\n`;
    return `${screen.paint(style, severity.padEnd(8))} ${screen.paint('key', place)}: ${text}\n${diff}${help}`;
  });
  const found = severities.slice(0, -1).flatMap((severity) => {
    const { length } = of(severity);
    return length === 0 ? [] : [counted(length, severity)];
  });
  const places = all.filter(({ kind }) => kind === 'evidence').length;
  const summary = `${counted(records.length, 'record')} with ${counted(places, 'place')} in the code: ${[...found, `${counts.fresh} as before`].join(', ')}`;
  const moved = fixed.map((path) => `${screen.paint('good', 'fixed')}    ${path}\n`);
  return [...moved, ...listed, ...(moved.length + listed.length > 0 ? ['\n'] : []), `${summary}\n`];
}

/** A difference, indented below its finding. */
function diffLines(screen: Screen, diff = ''): string {
  const lines = diff.split('\n').filter((line) => line !== '');
  return lines.map((line) => `  ${paintDiff(screen, line)}\n`).join('');
}
