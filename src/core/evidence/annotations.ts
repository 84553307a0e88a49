import * as z from 'zod';
import { annotationKeys } from '../values/annotation-keys.ts';
import { MemoryError } from '../values/error.ts';
import { isObject, type JsonObject, type JsonValue } from '../values/json.ts';
import { textKeys, withKeys } from '../yaml/text-keys.ts';
import { inlinePattern as inline, listedPattern } from './inline-pattern.ts';
import { formatReference, maxReferences, parseReference, type Reference } from './reference.ts';
import { type Fingerprint, formatFingerprint, parseFingerprint } from './span.ts';

/** A place in the code that a caller gave as evidence, with what is needed to find it again. */
export interface GivenEvidence extends Reference {
  /** The name of a declaration in the file; `Class.method` for a member. */
  readonly symbol?: string | undefined;
  /** The text of the lines or the declaration; undefined for a file or folder as a whole. */
  readonly fingerprint?: Fingerprint | undefined;
}

/** How sure a statement is. */
export const statementStatuses = ['fact', 'inference', 'open question'] as const;
export type StatementStatus = (typeof statementStatuses)[number];

/** An explicit confirmation that a record is true. */
export interface Verification {
  /** ISO 8601. */
  readonly at: string;
  /** The commit that was checked out. */
  readonly commit?: string | undefined;
  readonly by?: string | undefined;
}

/** Statements about a record that any record can have, in addition to the fields of its type. */
export interface Annotations {
  readonly evidence: readonly GivenEvidence[];
  readonly verified?: Verification | undefined;
  /** Paths of records below `.memory-bank/` that this one replaces. */
  readonly supersedes: readonly string[];
  /** Path of the record that replaces this one. */
  readonly supersededBy?: string | undefined;
  /** The last day on which the record holds: `2027-01-31`. */
  readonly expires?: string | undefined;
  readonly status?: StatementStatus | undefined;
}

/** Annotations to set: null removes one, and one that is absent stays. */
export type AnnotationChanges = {
  readonly [name in keyof Annotations]?: Annotations[name] | null;
} & {
  /** The present state of given evidence by its stored form, written where the record has it. */
  readonly renewed?: ReadonlyMap<string, GivenEvidence>;
  /** Places that a section only mentions, and that become its evidence where it mentions them. */
  readonly mentioned?: readonly GivenEvidence[];
};

/** How the annotations merge, as fields of a record do. */
export const annotationMerge = { evidence: 'list', supersedes: 'list' } as const;

/** Limit of the evidence that one call gives. */
const maxGiven = 50;

/** The argument of tools that write a record. */
export const evidenceArgument = z
  .array(z.string().min(1).max(1000))
  .max(maxGiven)
  .optional()
  .describe('Code it rests on: src/a.ts:4-9, src/a.ts#name');

/** A day of the calendar. */
export const day = z.iso.date();

const none: Annotations = { evidence: [], supersedes: [] };
const anyKey = new RegExp(`^(?:${annotationKeys.join('|')})[ \\t]*:`, 'm');

/**
 * A line of markdown by which a section says what it replaces: `Superseded by [Use git](#use-git)`, also
 * in a list, after `Status:` or in bold.
 */
export const statementLine =
  /^[ \t>*_+-]*(?:status[ \t:*_-]{0,6})?(super[sc]edes|super[sc]eded by)\b[ \t:*_]*(\S.*)$/gim;

/** Whether a text can contain such a line; others need not be parsed. */
export function mayHaveStatements(text: string): boolean {
  return /super[sc]ede[sd]/i.test(text);
}

/** Reads the annotations in the text of a record; parts that cannot be read are left out. */
export function readAnnotations(path: string, text: string): Annotations {
  const markdown = path.endsWith('.md');
  const inText = markdown ? inlineEvidence(text) : [];
  if (!anyKey.test(text)) return inText.length === 0 ? none : { ...none, evidence: inText };
  const { data } = textKeys(text, markdown);
  const evidence = texts(data.evidence).flatMap((one) => parseGiven(one) ?? []);
  const { verified, superseded_by, expires, claim } = data;
  return {
    evidence: [...evidence, ...inText].slice(0, maxReferences),
    verified: isObject(verified) ? verificationOf(verified) : undefined,
    supersedes: texts(data.supersedes),
    supersededBy: typeof superseded_by === 'string' ? superseded_by : undefined,
    expires: day.safeParse(expires).data,
    status: statementStatuses.find((status) => status === claim),
  };
}

/**
 * Writes annotations into the text of a record.
 *
 * @throws MemoryError `invalid_input` for a file that is neither markdown nor YAML.
 */
export function withAnnotations(path: string, text: string, changes: AnnotationChanges): string {
  if (!/\.(?:md|ya?ml)$/.test(path)) {
    throw new MemoryError('invalid_input', `${path} has no place for such a statement.`, {
      hint: 'Only markdown and YAML have one: write the file as YAML, or edit its text.',
    });
  }
  const { evidence, verified, supersedes, supersededBy, expires, status, renewed } = changes;
  const list = (items: readonly string[]) => (items.length === 0 ? undefined : [...items]);
  const keys: { [key: string]: JsonValue | undefined } = {};
  if (evidence !== undefined) keys.evidence = list((evidence ?? []).map(formatGiven));
  if (verified !== undefined) keys.verified = verified ? { ...verified } : undefined;
  if (supersedes !== undefined) keys.supersedes = list(supersedes ?? []);
  if (supersededBy !== undefined) keys.superseded_by = supersededBy ?? undefined;
  if (expires !== undefined) keys.expires = expires ?? undefined;
  if (status !== undefined) keys.claim = status ?? undefined;
  const base = renewed ? withRenewed(path, text, renewed) : text;
  if (Object.keys(keys).length === 0) return base;
  return withKeys(base, keys as JsonObject, path.endsWith('.md'));
}

/** Renews evidence where it is: between the lines, or in the keys, each place once. */
function withRenewed(
  path: string,
  text: string,
  renewed: ReadonlyMap<string, GivenEvidence>,
): string {
  const renew = (one: GivenEvidence) => renewed.get(formatGiven(one)) ?? one;
  const base = replaceEvidence(path, text, renew);
  const keyed = keyedEvidence(path, base);
  const inText = path.endsWith('.md') ? inlineEvidence(base).map(formatGiven) : [];
  const kept = [...new Set(keyed)].filter((one) => !inText.includes(one));
  if (kept.length === keyed.length) return base;
  const evidence = kept.length === 0 ? undefined : kept;
  return withKeys(base, { evidence } as JsonObject, path.endsWith('.md'));
}

/** Replaces given evidence between the lines of a markdown text. */
export function replaceInline(
  text: string,
  change: (evidence: GivenEvidence) => GivenEvidence | undefined,
): string {
  return text.replace(inline, (match: string, place: string, fingerprint: string) => {
    const given = parseGiven(`${place} ${fingerprint}`);
    const now = given && change(given);
    return now ? formatInline(now) : match;
  });
}

/** Whether the evidence of a record is only in its text: then its commit says who has verified it. */
export function hasInlineEvidenceOnly(path: string, text: string): boolean {
  const inText = path.endsWith('.md') ? inlineEvidence(text).map(formatGiven) : [];
  return inText.length > 0 && keyedEvidence(path, text).every((one) => inText.includes(one));
}

function keyedEvidence(path: string, text: string): string[] {
  return anyKey.test(text) ? texts(textKeys(text, path.endsWith('.md')).data.evidence) : [];
}

/** Replaces given evidence in the text of a record, wherever the record has it. */
export function replaceEvidence(
  path: string,
  text: string,
  change: (evidence: GivenEvidence) => GivenEvidence,
): string {
  const replaced = path.endsWith('.md') ? replaceInline(text, change) : text;
  if (!anyKey.test(replaced)) return replaced;
  const { data } = textKeys(replaced, path.endsWith('.md'));
  const keyed = texts(data.evidence).map((one) => {
    const given = parseGiven(one);
    return given ? formatGiven(change(given)) : one;
  });
  if (keyed.length === 0) return replaced;
  return withKeys(replaced, { evidence: keyed }, path.endsWith('.md'));
}

/** Reads one piece of given evidence: `src/a.ts:4-9 6-0f3a…`; undefined for a text that is not one. */
export function parseGiven(text: string): GivenEvidence | undefined {
  const [, place = '', word] = listedPattern.exec(text) ?? [];
  const fingerprint = word === undefined ? undefined : parseFingerprint(word);
  const [, file, symbol] = /^(.+)#(?!L\d+(?:-|$))([A-Za-z_$][\w$.]{0,200})$/.exec(place) ?? [];
  const reference = parseReference(file ?? place);
  if (!reference || (symbol !== undefined && reference.lines)) return undefined;
  return { ...reference, symbol, fingerprint };
}

/** Writes a place that was given as evidence, without its fingerprint. */
export function formatPlace({ symbol, ...reference }: GivenEvidence): string {
  return symbol === undefined ? formatReference(reference) : `${reference.path}#${symbol}`;
}

/** Writes one piece of given evidence as it is stored. */
export function formatGiven(evidence: GivenEvidence): string {
  const { fingerprint } = evidence;
  return formatPlace(evidence) + (fingerprint ? ` ${formatFingerprint(fingerprint)}` : '');
}

/** Writes one piece of given evidence as a part of a markdown text; a reader sees the place only. */
export function formatInline(evidence: GivenEvidence): string {
  const { fingerprint } = evidence;
  const place = `\`${formatPlace(evidence)}\``;
  return fingerprint ? `${place} <!-- ${formatFingerprint(fingerprint)} -->` : place;
}

export function inlineEvidence(text: string): GivenEvidence[] {
  const found: GivenEvidence[] = [];
  if (!text.includes('<!--')) return found;
  for (const [, place = '', fingerprint = ''] of text.matchAll(inline)) {
    if (found.length >= maxReferences) break;
    const given = parseGiven(`${place} ${fingerprint}`);
    if (given) found.push(given);
  }
  return found;
}

function texts(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return [];
  return value.slice(0, maxReferences).filter((one) => typeof one === 'string');
}

function verificationOf({ at, commit, by }: JsonObject): Verification | undefined {
  if (typeof at !== 'string') return undefined;
  return {
    at,
    ...(typeof commit === 'string' && { commit }),
    ...(typeof by === 'string' && { by }),
  };
}
