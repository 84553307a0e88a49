import { z } from 'zod';
import { type Context, timestamp } from '../../core/context.ts';
import { invalid, MemoryError } from '../../core/error.ts';
import {
  type AnnotationChanges,
  type Annotations,
  type ClaimStatus,
  claimStatuses,
  day,
  evidenceArgument,
  formatPlace,
  type GivenEvidence,
} from '../../core/evidence/annotations.ts';
import { formatReference } from '../../core/evidence/reference.ts';
import type { EvidenceFinding } from '../../core/evidence/verdict.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { paintDiff } from '../../core/painter.ts';
import type { Transaction } from '../../core/store.ts';
import { defineOperation } from '../../core/tool.ts';

interface VerifyRequest {
  readonly path: string;
  readonly evidence?: readonly string[] | undefined;
  readonly supersedes?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly status?: ClaimStatus | undefined;
}

interface Verified {
  readonly path: string;
  readonly annotations: Annotations;
  /** Records that name a superseded one. */
  readonly linked: readonly string[];
  /** The changes of the code that was verified, each as a text. */
  readonly changed: readonly string[];
}

/** Limit of the changed places that an answer shows. */
const maxChanges = 5;
/** Limit of the linked records that an answer names. */
const maxLinked = 50;

const recordPath = z.string().min(1).max(1000);
const input = {
  path: recordPath,
  evidence: evidenceArgument,
  supersedes: z.array(recordPath).max(20).optional(),
  expires: day.optional(),
  status: z.enum(claimStatuses).optional(),
};

export const verifyMemory = defineOperation({
  name: 'verify_memory',
  title: 'Verify a memory',
  description:
    'Confirms that a record is still true, after you have read its code: clears its caution. evidence replaces the code it rests on; supersedes marks the records that it replaces.',
  effect: 'write',
  input: z.object({
    ...input,
    path: recordPath.describe('Below .memory-bank/'),
    expires: day.optional().describe('Date'),
  }),
  run: verify,
  answer({ path, annotations, linked, changed }) {
    const { evidence, verified, supersedes, expires, status } = annotations;
    return {
      path,
      ...(verified && { verified: { ...verified } }),
      ...(changed.length > 0 && { changed: [...changed] }),
      ...(evidence.length > 0 && { evidence: evidence.map(formatPlace) }),
      ...(supersedes.length > 0 && { supersedes: [...supersedes] }),
      ...(expires !== undefined && { expires }),
      ...(status !== undefined && { status }),
      ...(linked.length > 0 && { linked: [...linked] }),
    };
  },
  command: {
    name: 'verify',
    about: 'confirm that a record is still true, and set the code that it rests on',
    operands: ['path'],
    input: z.object({
      ...input,
      path: recordPath.transform(pastedPath).meta({ title: 'path' }),
      supersedes: input.supersedes.describe('paths of records that it replaces'),
      expires: day.optional().describe('the last day on which it holds: 2027-01-31'),
      status: input.status.describe('how sure it is'),
    }),
    show: ({ path, annotations: { evidence, verified }, linked, changed }, painter) => [
      painter.paint('good', verified ? `verified ${path}` : `changed ${path}`),
      ...changed.flatMap((one) => one.split('\n').map((line) => `  ${paintDiff(painter, line)}`)),
      ...evidence.map((one) => `  ${painter.plain(formatPlace(one))}`),
      ...linked.map((one) => painter.plain(`${one} names a record that was superseded`)),
    ],
  },
});

async function verify(context: Context, request: VerifyRequest): Promise<Verified> {
  const path = pastedPath(request.path);
  const { supersedes, expires, status } = request;
  const places = request.evidence;
  const others = [supersedes, expires, status].filter((one) => one !== undefined);
  const verifies = places !== undefined || others.length === 0;
  const given = places && (await context.project.cite(places));
  const findings = verifies ? await findingsOf(context, path) : [];
  const head = (await context.project.head()).oid;
  const verified = {
    at: timestamp(context.now()),
    ...(head !== undefined && { commit: head.slice(0, 12) }),
    ...(context.session.agent !== undefined && { by: context.session.agent }),
  };
  const old = supersedes?.map(pastedPath);
  const annotations = await context.store.change(
    { subject: `${verifies ? 'verify' : 'annotate'} ${path}` },
    async (transaction) => {
      const before = await transaction.annotations(path);
      if (!before) throw missing(path);
      const evidence = given ?? (verifies && (await stillThere(context, before, findings)));
      const changes: AnnotationChanges = {
        ...(evidence && { evidence }),
        ...(verifies && { verified }),
        ...(old && { supersedes: old }),
        ...(expires !== undefined && { expires }),
        ...(status !== undefined && { status }),
      };
      await transaction.annotate(path, changes);
      if (old) await supersede(transaction, path, before.supersedes, old);
      return (await transaction.annotations(path)) ?? before;
    },
  );
  const linked = old ? await linkedTo(context, path, old) : [];
  return { path, annotations, linked, changed: changesOf(findings) };
}

/** Says in the replaced records by which one they were replaced. */
async function supersede(
  transaction: Transaction,
  path: string,
  before: readonly string[],
  old: readonly string[],
): Promise<void> {
  for (const [index, one] of old.entries()) {
    const replaced = await transaction.annotations(one);
    if (!replaced) throw missing(one);
    if (one === path || replaced.supersedes.includes(path)) {
      throw invalid(['supersedes', index], `${path} and ${one} would replace each other`);
    }
    await transaction.annotate(one, { supersededBy: path });
  }
  for (const one of before.filter((one) => !old.includes(one))) {
    const released = await transaction.annotations(one);
    if (released?.supersededBy === path) await transaction.annotate(one, { supersededBy: null });
  }
}

/** The verdicts about a record; none where there is no commit to compare with. */
async function findingsOf(context: Context, path: string): Promise<readonly EvidenceFinding[]> {
  if ((await context.project.head()).oid === undefined) return [];
  const { records } = await context.history.evidence({ path, codeOnly: true });
  return records.flatMap(({ findings }) =>
    findings.flatMap((one) => (one.kind === 'evidence' ? [one] : [])),
  );
}

/** Says what has changed in the code of a record, so that a reader can compare it with the record. */
function changesOf(findings: readonly EvidenceFinding[]): string[] {
  const changed = findings.filter(({ verdict }) => verdict === 'changed');
  return changed.slice(0, maxChanges).map(({ message, diff = '' }) => `${message}\n${diff}`.trim());
}

/** The given evidence of a record as the code has it now. */
async function stillThere(
  context: Context,
  { evidence }: Annotations,
  findings: readonly EvidenceFinding[],
): Promise<readonly GivenEvidence[] | undefined> {
  if (evidence.length === 0) return undefined;
  const places = evidence.map((one) => {
    const place = formatPlace(one);
    const found = findings.find(
      ({ evidence: { source, ...reference } }) =>
        source === 'given' && formatPlace(reference) === place,
    );
    if (found?.verdict === 'gone') {
      throw new MemoryError('invalid_input', `${found.message} It cannot be verified.`, {
        hint: 'Give evidence: the places that the record rests on now, or [] for none.',
      });
    }
    if (!found?.now || found.verdict === 'changed') return place;
    const { now } = found;
    return one.symbol === undefined ? formatReference(now) : `${now.path}#${one.symbol}`;
  });
  return context.project.cite(places);
}

/** The records that name one of these paths. */
async function linkedTo(
  context: Context,
  path: string,
  old: readonly string[],
): Promise<readonly string[]> {
  const linked = new Set<string>();
  for (const query of old) {
    const { hits } = await context.store.search({ query, fuzzy: false, limit: maxLinked });
    for (const hit of hits) linked.add(hit.path);
  }
  return [...linked].filter((one) => one !== path && !old.includes(one)).slice(0, maxLinked);
}

function missing(path: string): MemoryError {
  return new MemoryError('not_found', `There is no record at ${JSON.stringify(path)}.`, {
    hint: 'Give a path relative to .memory-bank/, as search results do.',
    data: { path },
  });
}
