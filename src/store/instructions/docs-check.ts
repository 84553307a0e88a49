import type { DocFinding, DocFindings, DocsReport } from '../../core/evidence/doc-finding.ts';
import { docKinds } from '../../core/evidence/finding-kinds.ts';
import type { EvidenceRequest } from '../../core/evidence/verdict.ts';
import type { CommitInfo } from '../../core/memory/commit-log.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { Oid } from '../../git/objects/object.ts';
import { forkPoint } from '../evidence/evidence-check.ts';
import { codeNow } from '../evidence/judged-places.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { entryAt } from '../history/last-change.ts';
import { ancestors } from '../history/lineage.ts';
import { inSlices } from '../records/slices.ts';
import { BreakSearch } from './break-search.ts';
import type { Claim, OpenClaim } from './claim.ts';
import { ClaimJudge } from './claim-judge.ts';
import { decodeDoc } from './doc-files.ts';
import { fixDocs } from './docs-fix.ts';
import { hasName } from './name-places.ts';
import { NewNames } from './new-name.ts';
import { ProjectTree } from './project-tree.ts';

/** Compares what the instructions and documents of the project say with its files and history. */
export async function checkDocs(
  reader: HistoryReader,
  request: EvidenceRequest,
): Promise<DocsReport> {
  const report = await compare(reader, request);
  if (request.fix !== true) return report;
  const { repository } = reader.history.code;
  const { code } = codeNow(reader, await reader.history.code.resolve('HEAD', reader.rights));
  const fixed = await fixDocs(repository, report, (path) => code.inTree(path));
  return fixed.length === 0 ? report : { ...(await compare(reader, request)), fixed };
}

async function compare(reader: HistoryReader, { since }: EvidenceRequest): Promise<DocsReport> {
  const { code, memory } = reader.history;
  const { odb } = code.repository;
  const head = await code.resolve('HEAD', reader.rights);
  const pause = () => reader.rights.signal.throwIfAborted();
  const fork = since === undefined ? undefined : await forkPoint(reader, head, since);
  const tree = await inSlices(ProjectTree.read(code.repository, head), pause);
  const now = codeNow(reader, head);
  const judge = new ClaimJudge(tree);
  const isOurs = (path: string) => now.code.inProject(path) !== undefined;
  const docs = [...tree.files.keys()].filter(
    (path) => isOurs(path) && !path.startsWith(`${memory.folderInCode}/`),
  );
  await inSlices(judge.judge(docs), pause);
  const isOld = fork === undefined ? undefined : await ancestry(reader, fork);
  const breaks = await inSlices(
    new BreakSearch(odb, judge.open, judge.manifests(), isOld).run(head),
    pause,
  );
  const names = new NewNames(reader, now, tree);
  const found = new Map<string, DocFinding[]>();
  const commits = new Map<Oid, CommitInfo>();
  let drifted = 0;
  for (const open of judge.open) {
    pause();
    const broken = breaks.get(open);
    const isDrift = broken
      ? names.isCertain(open, broken)
      : judge.isUncommitted(open) || (judge.isDeadLink(open) && !wasDead(open));
    if (!isDrift) continue;
    drifted += 1;
    const next = broken && names.find(open.doc, open.claim, broken);
    if (broken && !commits.has(broken.commit)) {
      commits.set(broken.commit, await reader.describeCode(broken.commit));
    }
    const commit = broken && commits.get(broken.commit);
    const path = now.code.inProject(open.doc) ?? open.doc;
    addTo(found, path, finding(open, commit, next));
  }
  const files = [...found].map(
    ([path, all]): DocFindings => ({ path, findings: all.sort((a, b) => a.line - b.line) }),
  );
  const { counts } = judge;
  return {
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
    counts: { ...counts, drifted, unknown: counts.claims - counts.true - drifted },
  };

  /** Whether the link was in its file at the commit that the branch comes from. */
  function wasDead({ doc, claim }: OpenClaim): boolean {
    const entry = fork === undefined ? undefined : entryAt(odb, fork, doc);
    const text = entry && decodeDoc(odb.content(entry.oid, 'blob'));
    return text !== undefined && hasName(text, claim.text);
  }
}

/** Whether a commit is another one or an ancestor of it. */
async function ancestry(reader: HistoryReader, commit: Oid): Promise<(other: Oid) => boolean> {
  const { index, number } = await reader.indexedCodeCommit(commit);
  const known = new Set<Oid>();
  ancestors(index, number).forEach((is, one) => {
    if (is) known.add(index.commit(one).oid);
  });
  return (other) => known.has(other);
}

function finding(
  { claim, line }: OpenClaim,
  commit: CommitInfo | undefined,
  now: string | undefined,
): DocFinding {
  return {
    kind: claim.kind,
    severity: docKinds[claim.kind].severity,
    line,
    text: claim.text,
    commit: commit?.oid,
    now,
    message: describe(claim, commit, now),
  };
}

/** Says in one sentence why a claim is not true. */
function describe(claim: Claim, commit: CommitInfo | undefined, now: string | undefined): string {
  const by = commit
    ? `, since ${commit.oid.slice(0, 12)} (${commit.author}: ${commit.subject})`
    : '';
  const hint = now === undefined ? '' : `; it is now \`${now}\``;
  return `${problem(claim)}${by}${hint}.`;
}

function problem(claim: Claim): string {
  const { text } = claim;
  if ('paths' in claim) {
    if (claim.isPattern) return `No file matches \`${text}\``;
    return claim.kind === 'link'
      ? `The link to ${text} leads nowhere`
      : `\`${text}\` does not exist`;
  }
  const { source, name, kind } = claim;
  switch (kind) {
    case 'anchor':
      return `The link to ${text} finds no such heading`;
    case 'runtime':
      return `${source.usual[0]} asks for more than "${text}"`;
    case 'variable':
      return `No code has \`${name}\``;
    case 'command':
    case 'option':
      return `No code has the ${kind} \`${name}\``;
    default:
      return `No ${source.name} is named \`${name}\``;
  }
}
