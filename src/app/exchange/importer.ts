import { basename, dirname, isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { counted } from '../../core/answers/painter.ts';
import { type Context, timestamp } from '../../core/declarations/context.ts';
import type {
  ExchangeFormat,
  Findings,
  ImportedRecord,
  Remark,
} from '../../core/declarations/exchange-format.ts';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import type { Session } from '../../core/memory/session.ts';
import type { Reader, Store, Transaction } from '../../core/memory/store.ts';
import { describeIssue, MemoryError } from '../../core/values/error.ts';
import { toIssue } from '../../core/values/input.ts';
import { isObject } from '../../core/values/json.ts';
import { logOfEntry } from '../../store/layout/log-paths.ts';
import { inSlices, Slice, type Steps } from '../../store/records/slices.ts';
import { type App, redactText } from '../app.ts';
import type { CallOptions } from '../session/call-context.ts';
import { type FoundSource, findSources } from './disk-source.ts';
import { ImportProgress } from './import-progress.ts';
import { knowledgeBundle } from './knowledge-bundle.ts';

export interface ImportRequest {
  /** Absolute path of a source, or of a folder with sources in their usual locations. */
  readonly path: string;
  /** The name of the only format to try. */
  readonly from: string | undefined;
  /** Report what would be done, and write nothing. */
  readonly dryRun: boolean;
  /** Replace records that differ; otherwise keep and report them. */
  readonly overwrite: boolean;
}

/** The report on one source. */
export interface ImportReport {
  readonly source: string;
  readonly format: string;
  /** Paths relative to the memory folder of the project or of the user. */
  readonly created: readonly string[];
  readonly replaced: readonly string[];
  /** The number of records that are already equal to the source. */
  readonly unchanged: number;
  /** Records that differ from the source and were kept. */
  readonly kept: readonly Remark[];
  /** Files and parts that were not imported. */
  readonly left: readonly Remark[];
  readonly notes: readonly Remark[];
  readonly commits: readonly MadeCommit[];
}

/** The outcome for the records of a source. */
interface ImportOutcome {
  readonly created: string[];
  readonly replaced: string[];
  unchanged: number;
  readonly kept: Remark[];
  readonly left: Remark[];
}

/** Returns the formats of all offered toolsets, and the one that has the records of all of them. */
export async function formatsOf(app: App): Promise<ExchangeFormat[]> {
  const toolsets = await app.toolsets();
  const own = await Promise.all(toolsets.map(({ formats }) => formats?.() ?? []));
  return [...own.flat(), knowledgeBundle(toolsets.flatMap(({ records }) => records))];
}

/**
 * Imports the memory of other programs, one commit for each source.
 *
 * A source is only read. Parts that cannot be imported are reported, and the others are imported.
 * A second import of the same source changes nothing.
 *
 * @throws MemoryError `not_found` if there is nothing to import, and the errors of any write.
 */
export async function importSources(
  app: App,
  session: Session,
  request: ImportRequest,
  options: CallOptions,
): Promise<ImportReport[]> {
  const formats = await formatsOf(app);
  const { root, folder } = await app.run(session, 'import', options, ({ project }) =>
    project.info(),
  );
  const { path, from } = request;
  if (path === folder) {
    throw new MemoryError('invalid_input', `${path} is the memory itself.`);
  }
  const reports: ImportReport[] = [];
  const { sources, refused } = findSources(formats, root, path, from);
  for (const found of sources) {
    const commits: MadeCommit[] = [];
    const reporting = { ...options, onCommit: (made: MadeCommit) => commits.push(made) };
    const report = await app.run(session, 'import', reporting, (context) =>
      importSource(context, found, request),
    );
    reports.push({ ...report, commits });
  }
  return [...reports, ...refused.map(notRead)].map((report) => ({
    ...report,
    kept: report.kept.map(redacted),
    left: report.left.map(redacted),
    notes: report.notes.map(redacted),
  }));
}

/** Returns a remark without credentials: it may name an entry by its key, which may be one. */
function redacted({ from, message }: Remark): Remark {
  return { from: redactText(from), message: redactText(message) };
}

/** Reports a location that is not read. */
function notRead(remark: Remark): ImportReport {
  const nothing = { created: [], replaced: [], unchanged: 0, kept: [], notes: [], commits: [] };
  return { source: remark.from, format: 'not read', ...nothing, left: [remark] };
}

async function importSource(
  context: Context,
  { format, source }: FoundSource,
  request: ImportRequest,
): Promise<Omit<ImportReport, 'commits'>> {
  const progress = new ImportProgress(context);
  const read = await readSource(context, { format, source }, progress);
  const { notes } = read;
  const { found: fit, left } = await withoutEntries(context, read);
  const total: ImportOutcome = {
    created: [],
    replaced: [],
    unchanged: 0,
    kept: [],
    left: [...left],
  };
  let settled = 0;
  for (const [open, part] of [
    [async () => context.store, fit.filter(({ home }) => !home)],
    [context.home, fit.filter(({ home }) => home)],
  ] as const) {
    if (part.length === 0) continue;
    const store = await open();
    const label = `${format.name} (${committedName(source.name)})`;
    const at: PartProgress = (done, message) => {
      progress.show('writing', (settled + done * part.length) / fit.length, message);
    };
    const outcome = request.dryRun
      ? await settle(store, part, request, at)
      : await write(store, part, request, at, label);
    total.created.push(...outcome.created);
    total.replaced.push(...outcome.replaced);
    total.kept.push(...outcome.kept);
    total.left.push(...outcome.left);
    total.unchanged += outcome.unchanged;
    settled += part.length;
  }
  progress.end();
  const made = new Set(
    [...total.created, ...total.replaced].map((path) => `${memoryFolderName}/${path}`),
  );
  // A dry run has not written any of them.
  const planned = new Map(
    fit.flatMap(({ type, value }) => {
      const path = `${memoryFolderName}/${type.path(value)}`;
      return made.has(path) && 'content' in value ? [[path, String(value.content)] as const] : [];
    }),
  );
  const { skipped } = made.size > 0 ? await context.modes.list(planned) : { skipped: [] };
  const unused = skipped
    .filter((rule) => made.has(rule.source))
    .map((rule) => ({ from: rule.source, message: `sets no mode: ${rule.reason}` }));
  return {
    source: source.name,
    format: format.name,
    ...total,
    notes: [...notes, ...unused],
  };
}

/**
 * Reads a source and checks its records, in slices.
 *
 * The unchecked records are released with this function: a large source should not be in
 * memory twice while it is stored.
 */
async function readSource(
  context: Context,
  { format, source }: Pick<FoundSource, 'format' | 'source'>,
  progress: ImportProgress,
): Promise<Findings> {
  const { name } = source;
  const reading = () => progress.show('reading', source.share, `reading ${name}`);
  reading();
  const read = await inSlices(
    format.read(source, () => timestamp(context.now())),
    reading,
  );
  const { found, left, notes } = await ofThisProject(context, name, read);
  const remarks = [...left];
  let checked = 0;
  const checking = () =>
    progress.show('checking', checked / found.length, `checking ${found[checked]?.from ?? name}`);
  checking();
  // In place, so that very many records are not in memory twice.
  function* check(): Steps {
    let fit = 0;
    for (const finding of found) {
      for (const one of conforming(finding, remarks)) found[fit++] = one;
      checked += 1;
      yield;
    }
    found.length = fit;
  }
  await inSlices(check(), checking);
  return { found, left: remarks, notes };
}

/** Leaves out the records that this memory would read as entries of a log. */
async function withoutEntries(context: Context, read: Findings): Promise<Findings> {
  const logOf = ({ type, value }: ImportedRecord) => logOfEntry(type.path(value));
  if (!read.found.some(logOf)) return read;
  if ((await context.project.layout()).layout !== 'entries') return read;
  const left = read.found.flatMap((one) => {
    const message = `would be an entry of ${logOf(one)} here: move it to another folder first`;
    return logOf(one) === undefined ? [] : [{ from: one.from, message }];
  });
  const found = read.found.filter((one) => logOf(one) === undefined);
  return { ...read, found, left: [...read.left, ...left] };
}

/**
 * Reads a source, unless it is in this project and names another project as its own. The
 * memory of another project can be imported from outside, where a person names it.
 */
async function ofThisProject(context: Context, from: string, read: Findings): Promise<Findings> {
  const { projectId } = await context.project.info();
  const other = read.projectId;
  if (!other || !projectId || other.toLowerCase() === projectId.toLowerCase()) return read;
  const message = `is the memory of project ${other}; this one is ${projectId}`;
  return dirname(from) === '.'
    ? { found: [], left: [...read.left, { from, message }], notes: [] }
    : { ...read, notes: [...read.notes, { from, message }] };
}

/** Returns the record as its schema parses it; undefined, with a remark, if it does not fit. */
function conforming(finding: ImportedRecord, left: Remark[]): ImportedRecord[] {
  const result = finding.type.schema.safeParse(finding.value);
  if (result.success) return [{ ...finding, value: result.data }];
  const issues = result.error.issues.map((issue) => describeIssue(toIssue(issue, finding.value)));
  left.push({ from: finding.from, message: issues.slice(0, 3).join('; ') });
  return [];
}

/** Returns the name of a source for a commit, which others read: without folders of this machine. */
function committedName(name: string): string {
  return isAbsolute(name) ? basename(name) : name;
}

/** Writes new records as one commit; records with a credential are left out and reported. */
async function write(
  store: Store,
  findings: readonly ImportedRecord[],
  request: ImportRequest,
  progress: PartProgress,
  label: string,
): Promise<ImportOutcome> {
  const refused = new Map<string, string>();
  for (;;) {
    try {
      return await store.change(
        ({ created, replaced }) => ({
          subject: `import ${counted(created.length + replaced.length, 'record')} from ${label}`,
        }),
        (transaction) => settle(transaction, findings, request, progress, { transaction, refused }),
        (done, total) => progress((1 + done / total) / 2, `storing record ${done} of ${total}`),
      );
    } catch (error) {
      const secrets =
        error instanceof MemoryError && error.code === 'secret' ? placesOf(error) : [];
      const fresh = secrets.filter(({ from }) => !refused.has(from));
      if (fresh.length === 0) throw error;
      for (const { from, message } of fresh) refused.set(from, message);
    }
  }
}

/** Returns why a record may not be written; undefined if it may. */
function refusalOf(refused: Writing['refused'], path: string, key: string): string | undefined {
  const reason = refused.get(path);
  if (reason !== undefined || redactText(key) === key) return reason;
  // The error about a credential in a key names no path, because the path would repeat it.
  return [...refused].find(([place]) => place.startsWith('the '))?.[1];
}

/** The places of credentials: paths in the memory folder, or descriptions such as "the name of the file". */
function placesOf({ data }: MemoryError): Remark[] {
  const { secrets } = data;
  return (Array.isArray(secrets) ? secrets : []).flatMap((secret) =>
    isObject(secret) && typeof secret.in === 'string'
      ? [{ from: secret.in, message: `holds what looks like ${secret.kind} (line ${secret.line})` }]
      : [],
  );
}

/** Receives how much of a part of the import is done, from 0 to 1. */
type PartProgress = (done: number, message: string) => void;

interface Writing {
  readonly transaction: Transaction;
  /** Paths that may not be written, and why. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Decides about every record, and writes it if there is a transaction. */
async function settle(
  reader: Reader,
  findings: readonly ImportedRecord[],
  { overwrite }: ImportRequest,
  progress: PartProgress,
  writing?: Writing,
): Promise<ImportOutcome> {
  const outcome: ImportOutcome = { created: [], replaced: [], unchanged: 0, kept: [], left: [] };
  const slice = new Slice();
  const taken = new Set<string>();
  for (const [i, finding] of findings.entries()) {
    const { type, value, from, written } = finding;
    if (slice.isOver) {
      await slice.turn();
      progress(i / findings.length / 2, `comparing ${from}`);
    }
    try {
      const present = await reader.get(type, type.key(value));
      if (present && isSame(present.value, finding)) {
        outcome.unchanged += 1;
        continue;
      }
      if (present && !overwrite && !finding.replaces?.(present.value)) {
        outcome.kept.push({ from, message: `differs from ${present.path}, which was kept` });
        continue;
      }
      const planned = present?.path ?? newPath(finding, taken);
      taken.add(planned);
      const reason = writing && refusalOf(writing.refused, planned, type.key(value));
      if (reason !== undefined) {
        outcome.left.push({ from, message: reason });
        continue;
      }
      const path =
        (await writing?.transaction.put(type, value, present ? undefined : written))?.path ??
        planned;
      (present ? outcome.replaced : outcome.created).push(path);
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'no_project') throw error;
      outcome.left.push({ from, message: error.text });
    }
  }
  if (writing) progress(1 / 2, 'storing the records');
  return outcome;
}

/** Returns the path of a new record, if no record but those of this import has it. */
function newPath({ type, value }: ImportedRecord, taken: ReadonlySet<string>): string {
  const paths = type.locate?.(type.key(value)) ?? [];
  return paths.find((path) => !taken.has(path)) ?? type.path(value);
}

function isSame(present: object, { value, undated }: ImportedRecord): boolean {
  const comparable = (given: object): unknown => {
    const data: unknown = JSON.parse(JSON.stringify(given));
    if (!undated || !isObject(data)) return data;
    const { created_at: _, updated_at: __, ...rest } = data;
    return rest;
  };
  return isDeepStrictEqual(comparable(present), comparable(value));
}
