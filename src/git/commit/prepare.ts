import { basename } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { IndexFile } from '../index/index-file.ts';
import type { KnownIndex } from '../index/known-index.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { identity } from '../refs/identity.ts';
import { withHead } from '../refs/ref-store.ts';
import { writerOf } from '../refs/ref-writer.ts';
import type { Head } from '../refs/refs.ts';
import type { Conversions } from '../repository/conversions.ts';
import type { IgnoreRules } from '../repository/ignore.ts';
import { type CommitPlan, type Proposal, planCommits } from './commit-plan.ts';
import { withConverted } from './converted-files.ts';
import type { MutationSite, Prepared } from './mutation.ts';
import { missingFolders } from './placement.ts';
import { planRewrite, type Rewrite } from './rewrite-plan.ts';
import { signerOf, signPlan } from './signing.ts';
import { checkMerged } from './state.ts';

/** The repository, and the settings of the program that plan a mutation. */
export interface PlanSite extends MutationSite {
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
  readonly rules: IgnoreRules | undefined;
  readonly conversions: Conversions | undefined;
  readonly signsOff?: (() => boolean) | undefined;
}

/** Plans the commits of proposals, or a rewrite, and begins to store their objects. */
export async function prepare(
  site: PlanSite,
  head: Head,
  known: KnownIndex,
  proposal: readonly Proposal[] | Rewrite,
  signal: AbortSignal | undefined,
): Promise<Prepared> {
  const { config, disk, env, odb, tree } = site;
  checkMerged(known.file);
  if ('rebuilt' in proposal) checkReflog(site);
  else {
    // Files of another line of history are already committed.
    for (const one of proposal) if (!one.join) checkIgnored(site, one, known);
    checkUnconverted(site, proposal, known);
  }
  const time = site.now();
  const author = identity(config, 'author', time);
  const committer = identity(config, 'committer', time);
  const signOff = site.signsOff?.() || config.bool('format.signoff') === true;
  const unsigned =
    'rebuilt' in proposal
      ? planRewrite(odb, head, proposal, committer, signOff)
      : planCommits(odb, head, known.file, withConverted(site, head, known.file, proposal), {
          author,
          committer,
          signOff,
        });
  const sign = signerOf(config, committer, env, signal);
  const plan = sign ? await signPlan(unsigned, sign) : unsigned;
  // Before anything is stored, because a file may be in the way of a folder.
  const folders = missingFolders(disk, tree.top, plan.files);
  const stored = store(site, plan);
  // The caller that awaits it gets the error; until then the rejection counts as handled.
  stored.catch(() => undefined);
  const oid = plan.commits.at(-1)?.oid ?? '';
  const onStaged = 'rebuilt' in proposal ? undefined : proposal.at(-1)?.onStaged;
  return { oid, plan, folders, stored, known, config, committer, onStaged };
}

/** Refuses to drop commits where neither the reflog of HEAD nor that of its branch would keep them. */
function checkReflog({ config, refs }: PlanSite): void {
  if (writerOf(refs).keepsLog(config, withHead(refs.head().ref))) return;
  throw new MemoryError('unsupported', 'This repository keeps no reflog (core.logAllRefUpdates).', {
    hint: 'Without one, git would delete the old commits. Run "git config core.logAllRefUpdates true".',
  });
}

/** Stores the objects of a plan; fulfilled with the folders to settle. */
async function store(
  { disk, odb }: PlanSite,
  { files, objects }: CommitPlan,
): Promise<Iterable<string>> {
  // Git's fsck reads them in every tree, even in a tree of a change that was never committed.
  const attributes = new Set(
    files
      .filter(({ path }) => basename(path) === '.gitattributes')
      .flatMap(({ before, after }) => [before, after]),
  );
  const first = objects.filter(({ oid }) => attributes.has(oid));
  if (first.length > 0) await disk.settle(await odb.write(first));
  return odb.write(objects.filter(({ oid }) => !attributes.has(oid)));
}

/** A tracked path may be ignored, as in git; a new one may not. */
function checkIgnored({ rules }: PlanSite, proposal: Proposal, index: KnownIndex): void {
  const added = proposal.changes.filter((one) => one.bytes && !index.file.find(one.path));
  rules?.check(added.map(({ path }) => path));
}

/** Refuses to write files of the memory that git would convert. */
function checkUnconverted(site: PlanSite, proposals: readonly Proposal[], index: KnownIndex): void {
  const changes = proposals.flatMap((proposal) => proposal.changes);
  const written = changes.filter(({ bytes, foreign }) => bytes && !foreign);
  const paths = written.map(({ path }) => path);
  site.conversions?.check(paths, stagedIn(site.odb, index.file));
}

/** Returns a function that reads files of the index. */
export function stagedIn(odb: ObjectDatabase, index: IndexFile) {
  return (path: string): Buffer | undefined => {
    const entry = index.find(path);
    return entry && odb.content(entry.oid, 'blob');
  };
}
