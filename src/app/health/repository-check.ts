import { join, relative, sep } from 'node:path';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import type { MemoryError } from '../../core/values/error.ts';
import { doesSign } from '../../git/commit/signing.ts';
import { isKnownStorage } from '../../git/commit/state.ts';
import {
  type FoundLock,
  firstWriteRefusals,
  foundLocks,
  writeRefusals,
} from '../../git/commit/writable.ts';
import { Disk } from '../../git/disk/disk.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { hasName } from '../../git/refs/identity.ts';
import { GitConfig, maxConfigSize } from '../../git/repository/config.ts';
import { formerRule } from '../../git/repository/conversions.ts';
import { findWorkTree, type WorkTree } from '../../git/repository/discover.ts';
import { readRegular } from '../../git/repository/enclosure.ts';
import { setMergeDriver } from '../session/merging.ts';
import type { RootInput } from '../session/root.ts';
import { checkAccess } from './access-check.ts';
import { checkFileSystem } from './file-system-check.ts';
import type { Finding } from './finding.ts';
import { checkRefs } from './refs-check.ts';
import { repositoryKind } from './repository-kind.ts';

/** Age from which a lock of git is a finding, in milliseconds; age is not proof of a dead holder. */
const oldLock = 60_000;

/**
 * Checks everything in a repository that can keep memory from being committed or merged.
 *
 * @param program the command for git's merge driver.
 * @throws MemoryError `unsupported` if `.git` names a missing directory.
 */
export async function checkRepository(
  root: string,
  env: RootInput['env'],
  program: readonly string[],
): Promise<Finding[]> {
  const repository = await repositoryKind(root);
  const files = new NodeFiles();
  const tree = findWorkTree(files, root, env);
  const what = 'Repository';
  const finding = ({ code, text, data }: MemoryError): Finding => {
    const more = data.attribute !== undefined && hasFormerRule(root) ? ` ${formerRuleAdvice}` : '';
    return { what, state: code === 'busy' ? 'note' : 'bad', text: text + more };
  };
  if (!repository || !tree) {
    const text = 'None yet; the first write makes one with "git init".';
    return [{ what, state: 'note', text }, ...refusalsAt(files, root, env).map(finding)];
  }
  const { kind, top, shallow } = repository;
  const text = `${kind} ${top}${shallow ? ', shallow: older history is missing' : ''}`;
  const config = GitConfig.read(files, { ...tree, branch: undefined, env });
  const refusals = refusalsAt(files, root, env);
  const ignored = refusals.find(({ code }) => code === 'ignored');
  return [
    { what, state: shallow ? 'note' : 'good', text },
    ...refusals.filter((error) => error !== ignored).map(finding),
    ignored
      ? { what: 'Ignore rules', state: 'bad', text: ignored.text }
      : { what: 'Ignore rules', state: 'good', text: `do not cover ${memoryFolderName}` },
    ...(await checkFileSystem(files, tree.commonDir)),
    ...foundLocks(new Disk(files, 'relaxed'), tree).map(lookAtLock),
    ...(isKnownStorage(config) ? checkRefs(files, tree) : []),
    ...checkAccess(files, tree, join(root, memoryFolderName)),
    lookAtDriver(root, tree, program),
    ...lookAtIdentity(config, env),
  ];
}

/** The advice for a memory whose own rule keeps git from the conversion as well. */
const formerRuleAdvice = `Git does not convert it either: replace the line "${formerRule}" of ${memoryFolderName}/.gitattributes by "* -text".`;

function hasFormerRule(root: string): boolean {
  const path = join(root, memoryFolderName, '.gitattributes');
  const text = readRegular(path, maxConfigSize)?.toString('utf8') ?? '';
  return text.split(/\r?\n/).includes(formerRule);
}

/**
 * Refuses a project in which the memory cannot be committed, before anything is written for it. An operation
 * of git that is under way passes.
 *
 * @param root the folder of the memory folder.
 * @throws MemoryError the first reason.
 */
export function checkFirstWrite(root: string, env: RootInput['env']): void {
  const refusals = refusalsAt(new NodeFiles(), root, env);
  const [first] = refusals.filter(({ code }) => code !== 'busy');
  if (first) throw first;
}

function refusalsAt(files: NodeFiles, root: string, env: RootInput['env']): MemoryError[] {
  const tree = findWorkTree(files, root);
  if (!tree) return firstWriteRefusals(files, root, env, `${memoryFolderName}/config.yaml`);
  const config = GitConfig.read(files, { ...tree, branch: undefined, env });
  const folder = relative(tree.top, join(root, memoryFolderName)).split(sep).join('/');
  return writeRefusals(files, tree, config, env, `${folder}/config.yaml`);
}

/** Says what is known of a lock and which process to check; only a proof of death makes it a leftover. */
function lookAtLock({ path, since, holder }: FoundLock): Finding {
  const what = 'Locks';
  const held = `${path} exists since ${since.toISOString()}`;
  if (holder?.gone) {
    const text = `${held}: its process no longer runs; the next change removes it.`;
    return { what, state: 'good', text };
  }
  if (holder) {
    const text = `${held}: the memory-bank process ${holder.pid} holds it. If it stays, check that process, on this machine or on another one that shares this disk.`;
    return { what, state: 'note', text };
  }
  if (Date.now() - since.getTime() <= oldLock) {
    return { what, state: 'note', text: `${held}: a git command holds it.` };
  }
  const text = `${held}, longer than most git commands take. Check which process holds it: a "git commit" with an open editor, an IDE, or git in a container or on another machine that shares this disk. Without such a process, a killed git command has left it.`;
  return { what, state: 'bad', text };
}

function lookAtDriver(root: string, tree: WorkTree, program: readonly string[]): Finding {
  const what = 'Merge driver';
  const path = join(tree.commonDir, 'config');
  const config = readRegular(path, maxConfigSize)?.toString('utf8') ?? '';
  const installed = /\[merge "memory-bank"\]/.test(config);
  const current = program.every((word) => config.includes(word.replaceAll('\\', '\\\\')));
  if (installed && current) return { what, state: 'good', text: 'git merges the memory by record' };
  const text = installed
    ? 'It starts a program at another path than this one.'
    : 'It is not installed here: git merges the memory line by line.';
  const fix = async () => {
    await setMergeDriver(root, program, 'full');
    return 'installed';
  };
  return {
    what,
    state: 'note',
    text: `${text} "memory-bank install-merge-driver" installs it.`,
    fix,
  };
}

/** Checks the identity for the commits of the memory. */
function lookAtIdentity(config: GitConfig, env: RootInput['env']): Finding[] {
  const found: Finding[] = [];
  if (!hasName(config, 'author')) {
    const text = 'git knows no user.name: the commits are by "memory-bank".';
    found.push({ what: 'Identity', state: 'note', text });
  }
  if (config.bool('commit.gpgsign') && !doesSign(env)) {
    const text =
      'commit.gpgsign is set, but commits of the memory are signed only with MEMORY_BANK_SIGN=true.';
    found.push({ what: 'Signing', state: 'note', text });
  }
  return found;
}
