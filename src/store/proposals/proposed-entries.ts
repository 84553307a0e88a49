import { findReferences } from '../../core/evidence/reference.ts';
import {
  type ClientFile,
  type ProposedEntry,
  proposalKinds,
} from '../../core/memory/proposed-entry.ts';
import type { Repository } from '../../git/commit/repository.ts';
import type { Oid } from '../../git/objects/object.ts';
import { decodeDoc, isRetired } from '../instructions/doc-files.ts';
import { ProjectTree } from '../instructions/project-tree.ts';
import type { Steps } from '../records/slices.ts';
import { agentRules, isAgentFile } from './agent-rules.ts';
import { clientNotes } from './client-notes.ts';
import { decidingCommits } from './deciding-commits.ts';
import { isDecisionRecord, recordedDecision } from './decision-records.ts';
import { listedDecisions, mayListDecisions } from './decision-sections.ts';
import { isManifest, manifestScripts } from './manifest-scripts.ts';

/** Limits of the files that are read, and of the entries of a kind. */
const maxBytes = 256 * 1024;
const maxRecords = 200;
const maxOfKind = 25;

/** A part of a project: its files and commits below a folder. */
export interface ProposalSource {
  readonly repository: Repository;
  readonly head: Oid;
  /** The root of the project, relative to the top of the work tree; empty for the top. */
  readonly root: string;
  /** Files of clients outside the project. */
  readonly outside: readonly ClientFile[];
}

/** Finds the statements of a project that could be records, without a model. */
export function* proposedEntries({
  repository,
  head,
  root,
  outside,
}: ProposalSource): Steps<ProposedEntry[]> {
  const { odb } = repository;
  const tree = yield* ProjectTree.read(repository, head);
  const below = root === '' ? '' : `${root}/`;
  const own = (path: string) =>
    path.startsWith(below) && !path.startsWith(`${below}.memory-bank/`) && !isRetired(path);
  const found: ProposedEntry[] = [];
  let records = 0;
  for (const [whole, oid] of [...tree.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    yield;
    if (!own(whole)) continue;
    const path = whole.slice(below.length);
    const isRecord = isDecisionRecord(path) && records < maxRecords;
    const isRead = isRecord || mayListDecisions(path) || isAgentFile(path) || isManifest(path);
    if (!isRead || !odb.has(oid) || odb.size(oid) > maxBytes) continue;
    const text = decodeDoc(odb.content(oid, 'blob'))?.replaceAll('\r\n', '\n');
    if (text === undefined) continue;
    if (isRecord) {
      records += 1;
      found.push(...asList(recordedDecision(path, text)));
    } else if (isManifest(path)) {
      found.push(...asList(manifestScripts(path, text, (name) => tree.files.has(below + name))));
    } else if (isAgentFile(path)) found.push(...agentRules(path, text, true));
    if (mayListDecisions(path)) found.push(...listedDecisions(path, text));
  }
  const named = (text: string) =>
    findReferences(text).flatMap(({ path }) => (tree.files.has(below + path) ? [path] : []));
  for (const one of outside.flatMap(clientNotes)) {
    found.push({ ...one, evidence: [...new Set(named(one.value))] });
  }
  const commits = yield* decidingCommits(odb, head, (path) => own(path));
  found.push(...commits.map((one) => withoutFolder(one, below)));
  return limited(found);
}

function asList(entry: ProposedEntry | undefined): ProposedEntry[] {
  return entry ? [entry] : [];
}

function withoutFolder(entry: ProposedEntry, below: string): ProposedEntry {
  return { ...entry, evidence: entry.evidence.map((path) => path.slice(below.length)) };
}

/** The entries in the order of their kinds, without those that say the same, at most so many of each kind. */
function limited(found: readonly ProposedEntry[]): ProposedEntry[] {
  const keys = new Set<string>();
  const texts = new Set<string>();
  return proposalKinds.flatMap((kind) => {
    const own = found.filter((one) => {
      if (one.kind !== kind) return false;
      const [key, text] = [`${one.category}/${one.key.toLowerCase()}`, one.value.toLowerCase()];
      if (keys.has(key) || texts.has(text)) return false;
      keys.add(key);
      texts.add(text);
      return true;
    });
    return own.slice(0, maxOfKind);
  });
}
