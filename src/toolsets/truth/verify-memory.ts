import * as z from 'zod';
import { paintDiff } from '../../core/answers/painter.ts';
import { type Context, timestamp } from '../../core/declarations/context.ts';
import { defineOperation } from '../../core/declarations/tool.ts';
import {
  type AnnotationChanges,
  type Annotations,
  day,
  evidenceArgument,
  formatGiven,
  formatPlace,
  type GivenEvidence,
  type StatementStatus,
  statementStatuses,
} from '../../core/evidence/annotations.ts';
import { formatReference } from '../../core/evidence/reference.ts';
import type { EvidenceFinding } from '../../core/evidence/verdict.ts';
import { evidenceInSentences } from '../../core/markdown/text-evidence.ts';
import { isOfAgent } from '../../core/memory/author-name.ts';
import { isOfVerify } from '../../core/memory/commit-log.ts';
import { linkedTo, missing, supersede } from '../../core/memory/supersede.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addressOf, citedMentions, holderOf, keepsEvidenceInText } from './decision-evidence.ts';

interface VerifyRequest {
  readonly path: string;
  readonly evidence?: readonly string[] | undefined;
  readonly supersedes?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly status?: StatementStatus | undefined;
}

interface Verified {
  readonly path: string;
  /** Whether it is confirmed to be true, and not only annotated. */
  readonly isConfirmed: boolean;
  readonly annotations: Annotations;
  /** Records that name a superseded one. */
  readonly linked: readonly string[];
  /** The changes of the code that was verified, each as a text. */
  readonly changed: readonly string[];
}

/** Limit of the changed places that an answer shows. */
const maxChanges = 5;
/** Limit of the commits among which the last one that changed a record is looked for; others confirm it. */
const maxCommits = 20;

const recordPath = z.string().min(1).max(1000);
const input = {
  path: recordPath,
  evidence: evidenceArgument,
  supersedes: z.array(recordPath).max(20).optional(),
  expires: day.optional(),
  status: z.enum(statementStatuses).optional(),
};

export const verifyMemory = defineOperation({
  name: 'verify_memory',
  title: 'Verify a memory',
  description:
    'You checked a record and it is still right: clears its caution. supersedes: the old ones that the new one replaces. Otherwise forget_memory.',
  effect: 'write',
  input: z.object({
    ...input,
    path: recordPath.describe('Below .memory-bank/'),
    expires: day.optional().describe('YYYY-MM-DD'),
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
    about: 'confirm that a record is still true; sets the code that it rests on',
    operands: ['path'],
    input: z.object({
      ...input,
      path: recordPath.transform(pastedPath).meta({ title: 'path' }),
      supersedes: input.supersedes.describe('paths of records that it replaces'),
      expires: day.optional().describe('the last day on which it holds: 2027-01-31'),
      status: input.status.describe('how sure it is'),
    }),
    show: ({ path, isConfirmed, annotations: { evidence }, linked, changed }, painter) => [
      painter.paint('good', isConfirmed ? `verified ${path}` : `changed ${path}`),
      ...changed.flatMap((one) => one.split('\n').map((line) => `  ${paintDiff(painter, line)}`)),
      ...evidence.map((one) => `  ${painter.plain(formatPlace(one))}`),
      ...linked.map((one) => painter.plain(`${one} names a record that was superseded`)),
    ],
  },
});

async function verify(context: Context, request: VerifyRequest): Promise<Verified> {
  const asked = await addressOf(context, pastedPath(request.path));
  const { supersedes, expires, status } = request;
  const places = request.evidence;
  const others = [supersedes, expires, status].filter((one) => one !== undefined);
  const verifies = places !== undefined || others.length === 0;
  const given = places && (await context.project.cite(places));
  const findings = verifies ? await findingsOf(context, asked) : [];
  const head = (await context.project.head()).oid;
  const verified = {
    at: timestamp(context.now()),
    ...(head !== undefined && { commit: head.slice(0, 12) }),
    ...(context.session.agent !== undefined && { by: context.session.agent }),
  };
  const last = verifies ? await lastVerified(context, asked) : undefined;
  const isPerson = verifies && !context.session.isAgent && head !== undefined;
  const person = isPerson ? await context.reviews.person() : undefined;
  const old = supersedes?.map(pastedPath);
  let replaced: readonly string[] = [];
  let isUnwritten = false;
  let isNew = true;
  const { path, before, annotations } = await context.store.change(
    { subject: `${verifies ? 'verify' : 'annotate'} ${asked}` },
    async (transaction) => {
      const path = given ? await holderOf(transaction, asked) : asked;
      const before = await transaction.annotations(path);
      const text = await transaction.text(path);
      if (!before || text === undefined) throw missing(path);
      const record = parseAddress(path).path;
      const whole = await transaction.text(record);
      replaced = old ? await supersede(transaction, path, old) : [];
      const mentions = verifies
        ? await citedMentions(context, path, text, { findings, given })
        : new Map();
      // Evidence between the lines of a text is renewed there; the commit says who has verified it.
      const isInText =
        mentions !== undefined && keepsEvidenceInText(path, text, { findings, given });
      const kept = given ? (isInText ? evidenceInSentences(text) : []) : before.evidence;
      const renewed = verifies ? await stillThere(context, kept, findings) : undefined;
      const isKnown = last?.text === text && isAsBefore(before, { given, renewed, findings });
      const changes: AnnotationChanges = {
        ...(given && { evidence: given }),
        ...(renewed && { renewed }),
        ...(verifies && !isInText && !isKnown && { verified }),
        ...(expires !== undefined && { expires }),
        ...(status !== undefined && { status }),
      };
      if (Object.keys(changes).length > 0) await transaction.annotate(path, changes);
      for (const [address, mentioned] of isInText ? mentions : []) {
        await transaction.annotate(address, { mentioned });
      }
      const annotations = (await transaction.annotations(path)) ?? before;
      const { agent, author, text: said } = last ?? {};
      const isSame = clientOf(agent) === clientOf(context.session.agent) || !isOfAgent(agent);
      const isSaid = said === whole && isSame && author === person;
      isNew = !isSaid && (await transaction.text(record)) === whole;
      isUnwritten = verifies && isInText && annotations.evidence.length === 0 && !given;
      return { path, before, annotations };
    },
  );
  const linked = await linkedTo(context, replaced);
  // A person who finds everything as it was says so once; the word of an agent adds nothing then.
  const { reviews } = context;
  if (person !== undefined && isNew && !(await reviews.isConfirmed(path))) {
    await reviews.confirm(path);
  } else if (isUnwritten)
    context.note(`Nothing was written: ${path} names no code that could change.`);
  const about = findingsAbout(path, { before, after: annotations }, findings);
  return { path, isConfirmed: verifies, annotations, linked, changed: changesOf(about) };
}

/** The name of a client without its version. */
function clientOf(agent: string | undefined): string | undefined {
  return agent?.split('/', 1)[0];
}

/** The findings about a record, or about the evidence of a section before and after its verification. */
function findingsAbout(
  path: string,
  { before, after }: { readonly before: Annotations; readonly after: Annotations },
  findings: readonly EvidenceFinding[],
): readonly EvidenceFinding[] {
  if (parseAddress(path).section === undefined) return findings;
  const given = new Set(before.evidence.map(formatGiven));
  const places = new Set(after.evidence.map(formatPlace));
  return findings.filter(({ evidence }) =>
    evidence.source === 'given'
      ? given.has(formatGiven(evidence))
      : places.has(formatPlace(evidence)),
  );
}

/** The last commit that changed a record or section, if that has verified it, and the text of the record there. */
async function lastVerified(
  context: Context,
  address: string,
): Promise<
  { readonly text: string; readonly agent: string | undefined; readonly author: string } | undefined
> {
  if ((await context.project.head()).oid === undefined) return undefined;
  try {
    const request = { revision: 'HEAD', path: address, limit: maxCommits, skip: 0 };
    const { entries } = await context.history.log(request);
    const last = entries.find(({ changes }) =>
      changes.some(({ change }) => change !== 'confirmed'),
    );
    if (!last || !isOfVerify(last.commit) || !isAbout(last.commit.subject, address))
      return undefined;
    const { agent, author } = last.commit;
    const { text } = await (await context.history.at('HEAD')).read(parseAddress(address).path);
    return { text, agent, author };
  } catch (error) {
    if (error instanceof MemoryError && error.code !== 'cancelled') return undefined;
    throw error;
  }
}

/** Whether a commit, by its subject, verified a record or section, and not only another part of the record. */
function isAbout(subject: string, address: string): boolean {
  const wanted = `memory: verify ${address}`;
  const [start = '', rest] = subject.split('…');
  return rest === undefined ? `${wanted}#`.startsWith(`${subject}#`) : wanted.startsWith(start);
}

/** Whether a verification would say nothing but another time, commit and client. */
function isAsBefore(
  before: Annotations,
  now: {
    readonly given: readonly GivenEvidence[] | undefined;
    readonly renewed: ReadonlyMap<string, GivenEvidence> | undefined;
    readonly findings: readonly EvidenceFinding[];
  },
): boolean {
  if (!before.verified) return false;
  const evidence =
    now.given ?? before.evidence.map((one) => now.renewed?.get(formatGiven(one)) ?? one);
  const same = evidence.map(formatGiven).join('\n') === before.evidence.map(formatGiven).join('\n');
  return same && now.findings.every(({ severity }) => severity === 'info' || severity === 'notice');
}

/** The verdicts about a record; none where there is no commit to compare with. */
async function findingsOf(context: Context, path: string): Promise<readonly EvidenceFinding[]> {
  if ((await context.project.head()).oid === undefined) return [];
  const { records } = await context.history
    .evidence({ path: parseAddress(path).path, only: 'code' })
    .catch((error) => {
      if (error instanceof MemoryError && error.code === 'not_found') throw missing(path);
      throw error;
    });
  return records.flatMap(({ findings }) =>
    findings.flatMap((one) => (one.kind === 'evidence' ? [one] : [])),
  );
}

/** Says what has changed in the code of a record, so that a reader can compare it with the record. */
function changesOf(findings: readonly EvidenceFinding[]): string[] {
  const changed = findings.filter(({ verdict }) => verdict === 'changed');
  return changed.slice(0, maxChanges).map(({ message, diff = '' }) => `${message}\n${diff}`.trim());
}

/** The given evidence of a record as the code has it now, by the form in which the record has it. */
async function stillThere(
  context: Context,
  evidence: readonly GivenEvidence[],
  findings: readonly EvidenceFinding[],
): Promise<ReadonlyMap<string, GivenEvidence> | undefined> {
  if (evidence.length === 0) return undefined;
  const places = evidence.map((one) => {
    const found = findings.find(
      ({ evidence }) => evidence.source === 'given' && formatGiven(evidence) === formatGiven(one),
    );
    if (found?.verdict === 'gone') {
      throw new MemoryError('invalid_input', `${found.message} It cannot be verified.`, {
        hint: 'Give evidence: the places that the record rests on now, or [] for none. A text that names the place has to be edited.',
      });
    }
    if (!found?.now || found.verdict === 'changed') return formatPlace(one);
    const { now } = found;
    return one.symbol === undefined ? formatReference(now) : `${now.path}#${one.symbol}`;
  });
  const cited = await context.project.cite(places);
  return new Map(
    evidence.flatMap((one, i) => {
      const now = cited[i];
      return now ? [[formatGiven(one), now] as const] : [];
    }),
  );
}
