import type { ProposedEntry } from '../../core/memory/proposed-entry.ts';
import { monotonicTime } from '../../core/timing/clock.ts';
import { type Commit, type Oid, parseCommit } from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { entryAt } from '../history/last-change.ts';
import type { Steps } from '../records/slices.ts';
import { firstSentences, isUnfilled, keyFor, plainLine, wordCount } from './source-text.ts';

/** Limits of the commits that are read, of the time for it in milliseconds, and of those that are proposed. */
const maxCommits = 50_000;
const maxTime = 2500;
const maxFound = 12;
/** A commit of more files is about more than one decision. */
const maxFiles = 40;
const maxEvidence = 3;
const maxBytes = 256 * 1024;
const maxMessage = 8000;
const maxSubject = 300;

const prefix = /^(?:[a-z]+(?:\([^)\n]{1,40}\))?!?|\[[^\]\n]{1,30}\]|[\w./-]{1,30}):\s+/i;
const reference = /\s*\((?:(?:closes?|fixes|refs?|see)\s+)?(?:[\w./-]*#\d+(?:,\s*)?)+\)\s*$/i;
/** Subjects that decide between two things: the chosen one, and the one that it replaces. */
const choices: readonly (readonly [pattern: RegExp, isReversed: boolean])[] = [
  [
    /^(?:always |only |prefer to )?(?:use|prefer|using) (.{2,60}?) (?:instead of|over|rather than|in favou?r of|in place of|not) (.{2,60})$/i,
    false,
  ],
  [/^(?:replaces?|swap(?: out)?|substitute) (.{2,60}?) (?:with|by|for) (.{2,60})$/i, true],
  [/^(?:switch|migrate|move|change|convert) (?:over )?from (.{2,60}?) to (.{2,60})$/i, true],
  [/^(?:drop|remove|stop using|get rid of) (.{2,60}?) in favou?r of (.{2,60})$/i, true],
];
const revert = /^revert:?\s+["“'](.{8,120})["”']$/i;
/** Words of a sentence that gives a reason. */
const reason =
  /\b(?:because|since (?:it|this|the|we|they|there|our|that)|so that|in order to|to avoid|to prevent|due to|the reason|this (?:avoids|prevents|allows|makes|ensures|means)|which (?:is|are|was|were|avoids|causes|breaks|means)|as (?:it|this|the|we|they|there) (?:is|are|was|does|has|have|can|will|only)|otherwise)\b/i;
/** Where a sentence ends: not after an abbreviation. */
const sentenceEnd = /(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc|vs|cf)\.)\s+|\n/i;
/** Files that decide for a whole project: manifests, settings, pipelines. */
const setting =
  /(?:^|\/)(?:[^/]*\.(?:ya?ml|toml|ini|cfg|gradle|kts|csproj|gemspec|nix|tf|bazel)|[^/]*(?:package|tsconfig|composer|deno)[^/]*\.jsonc?|Dockerfile[^/]*|Makefile|justfile|Gemfile|go\.mod|pom\.xml|requirements[^/]*\.txt|CMakeLists\.txt|\.[^/]+rc)$/i;
const bot =
  /\b(?:dependabot|renovate|greenkeeper|github-actions|\[bot\]|pre-commit-ci|snyk|weblate)\b/i;
/** Words that are not the name of a thing that a file can have. */
const plainWord =
  /^(?:the|a|an|of|for|in|on|to|with|and|or|new|old|our|own|custom|its?|some|all|one|code|file|files|function|method|methods|class|type|types|value|values|name|names|version|test|tests|direct|single|simple|more|using|use|from|more|better|instead|default|builtin|built-in|native|local|global|latest|stable|text|string|list|array|map|set|key|data|error|errors|when|where|this|that|it|them)$/i;

/** A commit that chooses one thing instead of another, and says why. */
interface Deciding {
  readonly oid: Oid;
  readonly commit: Commit;
  readonly subject: string;
  /** Undefined for a commit that takes another one back. */
  readonly choice: { readonly chosen: string; readonly replaced: string } | undefined;
  /** The subject of the commit that it takes back. */
  readonly reverted: string | undefined;
  readonly why: string;
}

/** Finds commits that decide, give a reason, and whose choice the files still show. */
export function* decidingCommits(
  odb: ObjectDatabase,
  head: Oid,
  isWanted: (path: string) => boolean,
): Steps<ProposedEntry[]> {
  const ends = monotonicTime() + maxTime;
  const found: ProposedEntry[] = [];
  const later: Deciding[] = [];
  const subjects = new Set<string>();
  const seen = new Set([head]);
  for (const oid of seen) {
    if (found.length >= maxFound || seen.size > maxCommits || monotonicTime() > ends) break;
    // A shallow clone ends somewhere.
    if (!odb.has(oid)) continue;
    const commit = parseCommit(odb.content(oid, 'commit'));
    for (const parent of commit.parents) seen.add(parent);
    yield;
    const deciding = decisionOf(oid, commit);
    const subject = bare(commit.message.slice(0, maxSubject).split('\n', 1)[0] ?? '');
    // A reverted change may have been made again since.
    const isAgain = deciding?.reverted !== undefined && subjects.has(bare(deciding.reverted));
    subjects.add(subject);
    if (!deciding || isAgain || isOverturned(deciding, later)) continue;
    later.push(deciding);
    const evidence = stillShown(odb, head, deciding, isWanted);
    if (evidence.length > 0) found.push(entryOf(deciding, evidence));
  }
  return found;
}

/** The decision that the message of a commit says; undefined for most commits. */
export function decisionOf(oid: Oid, commit: Commit): Deciding | undefined {
  const { message, parents, author } = commit;
  if (parents.length !== 1 || bot.test(`${author.name} ${author.email}`)) return undefined;
  if (/^Memory-Tool: /m.test(message)) return undefined;
  const [whole = '', ...rest] = message.slice(0, maxMessage).trim().split('\n');
  const first = whole.slice(0, maxSubject);
  const subject = plainLine(first)
    .replace(prefix, '')
    .replace(reference, '')
    .replace(/[.\s]+$/, '');
  for (const [pattern, isReversed] of choices) {
    const [, one = '', other = ''] = pattern.exec(subject) ?? [];
    if (one === '') continue;
    const [chosen, replaced] = isReversed ? [other, one] : [one, other];
    const why = reasonIn(rest.join('\n'));
    if (why === undefined || isUnfilled(`${subject} ${why}`)) return undefined;
    return { oid, commit, subject, choice: { chosen, replaced }, reverted: undefined, why };
  }
  const [, reverted] = revert.exec(plainLine(first).replace(reference, '')) ?? [];
  const why = reverted === undefined ? undefined : reasonIn(rest.join('\n'));
  if (why === undefined || isUnfilled(why)) return undefined;
  return { oid, commit, subject, choice: undefined, reverted, why };
}

/** The subject of a commit, for a comparison with that of its revert. */
function bare(subject: string): string {
  return subject.replace(reference, '').replace(prefix, '').trim().toLowerCase();
}

/** Whether a later decision takes an earlier one back. */
function isOverturned({ choice }: Deciding, later: readonly Deciding[]): boolean {
  if (!choice) return false;
  const chosen = namesIn(choice.chosen);
  return later.some((one) => {
    const gone = one.choice ? namesIn(one.choice.replaced) : [];
    return gone.length > 0 && chosen.every((name) => gone.includes(name));
  });
}

/** The sentence of a message that gives a reason. */
function reasonIn(body: string): string | undefined {
  const text = body
    .split('\n')
    // Trailers, quotes, lists of commits of a squash, and code.
    .filter((line) => !/^(?:[A-Z][\w-]+: |>|\* |---|diff |```| {4}|co-authored-by)/i.test(line))
    .join('\n')
    .split(/\n[ \t]*\n/)
    .map((paragraph) => plainLine(paragraph))
    .join('\n');
  const said = text.split(sentenceEnd).find((one) => reason.test(one)) ?? '';
  const sentence = firstSentences(said, 400);
  return wordCount(sentence) >= 6 ? sentence : undefined;
}

/** The names of things in a phrase: code, or words that are not plain ones. */
function namesIn(phrase: string): string[] {
  const code = [...phrase.matchAll(/`([^`\n]{2,60})`/g)].map(([, name = '']) => name);
  if (code.length > 0) return code.map((one) => one.replace(/\(.*$/, ''));
  return (phrase.match(/[\p{L}\p{N}_@][\p{L}\p{N}_./:@-]*[\p{L}\p{N}_]/gu) ?? []).filter(
    (word) => word.length > 2 && !plainWord.test(word),
  );
}

/** The files of a commit that have the chosen thing today, and no longer the replaced one; none for a detail. */
function stillShown(
  odb: ObjectDatabase,
  head: Oid,
  { commit, choice }: Deciding,
  isWanted: (path: string) => boolean,
): string[] {
  const [parent = ''] = commit.parents;
  if (!odb.has(parent)) return [];
  const [wanted, gone] = [namesIn(choice?.chosen ?? ''), namesIn(choice?.replaced ?? '')];
  if (choice && (wanted.length === 0 || gone.length === 0)) return [];
  const paths: string[] = [];
  for (const { path, after } of differences(odb, treeOf(odb, parent), commit.tree)) {
    if (paths.length > maxFiles) return [];
    if (after && isWanted(path)) paths.push(path);
  }
  const shown: string[] = [];
  for (const path of paths) {
    const text = textAt(odb, head, path);
    if (text === undefined) continue;
    const has = (name: string) =>
      text.includes(name) || text.toLowerCase().includes(name.toLowerCase());
    if (
      choice &&
      gone.every(has) &&
      !wanted.some((one) => gone.some((other) => one.includes(other)))
    )
      return [];
    if (wanted.every(has)) shown.push(path);
    if (shown.length === maxEvidence) break;
  }
  // A choice within one source file is a detail of it.
  return shown.length === maxEvidence || paths.some((path) => setting.test(path)) ? shown : [];
}

function textAt(odb: ObjectDatabase, head: Oid, path: string): string | undefined {
  const oid = entryAt(odb, head, path)?.oid;
  if (oid === undefined || !odb.has(oid) || odb.size(oid) > maxBytes) return undefined;
  const bytes = odb.content(oid, 'blob');
  return bytes.includes(0) ? undefined : bytes.toString('utf8');
}

function entryOf(
  { oid, commit, subject, reverted, why }: Deciding,
  evidence: readonly string[],
): ProposedEntry {
  const day = new Date(commit.committer.seconds * 1000).toISOString().slice(0, 10);
  const value =
    reverted === undefined
      ? subject.charAt(0).toUpperCase() + subject.slice(1)
      : `Tried and taken back: ${reverted}`;
  return {
    kind: 'commit',
    category: 'decisions',
    key: keyFor(reverted === undefined ? subject : `taken back ${reverted}`),
    value: `${value}. ${why}`,
    reason: `Commit ${oid.slice(0, 12)} of ${day}.`,
    source: `commit ${oid.slice(0, 12)} of ${day}`,
    evidence,
  };
}
