import { inspect } from 'node:util';
import type { LogLevel } from '../../core/declarations/context.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import { type Session, sessionKey } from '../../core/memory/session.ts';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import { cutText } from '../../core/values/cut-text.ts';
import { type ErrorCode, MemoryError, toMemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { redactError } from '../../store/secrets/redaction.ts';

/** A call that has ended, for the counts of a server. */
export interface CallMade {
  readonly session: Session;
  /** The name of the tool, or a fixed name for another operation. */
  readonly label: string;
  readonly outcome: 'ok' | ErrorCode;
  readonly milliseconds: number;
  /** The number of its commits. */
  readonly commits: number;
}

/** An answer in the toolset's own wire format. */
export interface Reply {
  readonly body: JsonObject;
  /** Sentences for the model, next to the body. */
  readonly note?: string;
  /** The code of the error; undefined for a successful call. */
  readonly error: ErrorCode | undefined;
  /** The error in words, for a person. */
  readonly text?: string;
  /** `memory-bank/commit` and `memory-bank/branch` of the last commit of the call; empty for none. */
  readonly meta: JsonObject;
}

/** Returns the `_meta` of an answer: the last of the commits made for it; empty if there is none. */
export function commitMeta(commits: readonly MadeCommit[]): JsonObject {
  const commit = commits.at(-1);
  if (!commit) return {};
  const warning = detachedWarning(commit);
  return {
    'memory-bank/commit': commit.oid,
    ...(commit.branch !== undefined && { 'memory-bank/branch': commit.branch }),
    ...(warning !== undefined && { 'memory-bank/warning': warning }),
  };
}

/** Returns the warning about a commit that no branch contains; undefined for any other. */
export function detachedWarning({ branch, oid }: MadeCommit): string | undefined {
  if (branch !== undefined) return undefined;
  return `HEAD is detached: no branch holds the commit ${oid.slice(0, 12)}. Keep it by \`git switch -c <name>\`.`;
}

/** Limit of the note of an answer, in characters. */
const maxNote = 8_000;

/** Returns the note of an answer, all sentences in one text; empty if there is none. */
export function noteOf(sentences: readonly string[]): { readonly note?: string } {
  if (sentences.length === 0) return {};
  return { note: cutText(sentences.join(' '), maxNote, () => 'The first sentences matter most.') };
}

/** The sentence about a repository that a change created, for people and models. */
export function noteNewRepository(folder: string): string {
  return `${folder} was not in a git repository, so this change created one there; each change of the memory is a commit in it.`;
}

/** The name of the branch of the last change of a session that waits for a review. */
const reviewKey = sessionKey<string | undefined>('review', () => undefined);

/** The sentence about a change that waits for a review, if it is the first one of its session there. */
export function noteReview(session: Session, { branch = '' }: MadeCommit): readonly string[] {
  if (!branch.startsWith(reviewBranches) || session.get(reviewKey) === branch) return [];
  session.set(reviewKey, branch);
  return ['The change waits for a review by a person: until then, only this session sees it.'];
}

/** Returns the error of a failed call; a defect of the program also goes to the log, with its stack. */
export function callError(
  label: string,
  thrown: unknown,
  { signal, commits }: { readonly signal: AbortSignal; readonly commits: number },
  log: (level: LogLevel, message: string) => void,
): MemoryError {
  if (signal.aborted && (thrown === signal.reason || isAbort(thrown))) {
    const written = commits === 0 ? 'nothing was written' : 'what it had committed stays';
    return new MemoryError('cancelled', `The caller cancelled the call; ${written}.`);
  }
  const error = toMemoryError(thrown);
  if (error.code === 'internal') log('error', `${label}: ${inspect(error.cause ?? error)}`);
  // A key or name in the request may be a credential, and the answer becomes part of a conversation.
  return redactError(error);
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}
