import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { storageError } from '../disk/storage-error.ts';
import type { Oid } from '../objects/object.ts';
import { isOid, sha1 } from '../objects/object-format.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { Refs } from '../refs/refs.ts';
import { firstGit } from '../repository/git-version.ts';
import { objectFormatIn } from '../repository/repository-format.ts';
import { type Address, type Credentials, credentialsFor, quoted } from './login.ts';
import { checkGit, type Outcome, runGit } from './program.ts';
import { maxFetched, Quarantine } from './quarantine.ts';
import { pushRefusal, refusalOf } from './refusal.ts';
import type { FetchedBranch, Lease, Push, RefsBelow, Remote } from './remote.ts';

/** Time after which a run of git is ended, in milliseconds. */
export const defaultTimeout = 300_000;
/** Size from which git streams a file, in bytes. */
const bigFile = 16 * 1024 * 1024;

/**
 * Settings that keep git from running hooks, asking questions and starting maintenance.
 *
 * Git stores objects as packs, which are on the medium when it ends.
 */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'core.askPass=',
  'core.fsync=all',
  `core.bigFileThreshold=${bigFile}`,
  'credential.interactive=false',
  'fetch.unpackLimit=1',
  'fetch.writeCommitGraph=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'push.gpgSign=false',
  'transfer.unpackLimit=1',
];

/** Settings for the other side of a folder, which reads the configuration of that repository. */
const otherSide = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'core.fsync=all',
  `core.bigFileThreshold=${bigFile}`,
  'gc.auto=0',
  'maintenance.auto=false',
  'receive.autogc=false',
  'receive.denyCurrentBranch=refuse',
  'uploadpack.allowAnySHA1InWant=true',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Messages of git that a ref of the remote has another value than expected. */
const lostRace =
  /fetch first|non-fast-forward|stale info|(?:failed to|cannot) (?:update|lock) ref|reference already exists|incorrect old value/i;

/** Variables of git that control how a remote is reached; the others locate a repository. */
const kept =
  /^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|EXEC_PATH|HTTP_\w+|PROXY_\w+|SSH|SSH_VARIANT|SSL_\w+)$/;

/** The repository of a remote, and the limits. */
export interface RemoteOptions {
  readonly disk: Disk;
  readonly commonDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** `core.sshCommand` of the user's own configuration. */
  readonly sshCommand: string | undefined;
  /** Whether the repository is a partial clone. */
  readonly partial: boolean;
  /** Time after which a run of git is ended, in milliseconds; for tests. */
  readonly timeout?: number;
  /** Limit of one fetch, in bytes; for tests. */
  readonly limit?: number;
}

/**
 * A remote that is reached by the installed git.
 *
 * Git runs in a separate git directory with access to the objects of the repository. It therefore reads
 * the user's configuration but not the repository's, and changes neither refs nor the index.
 */
export class ProgramRemote implements Remote {
  readonly #address: Address;
  readonly #options: RemoteOptions;
  /** The check of the installed git: an exchange runs it several times. */
  #checked: Promise<void> | undefined;
  readonly #credentials: Credentials;

  constructor(address: Address, options: RemoteOptions) {
    this.#address = address;
    this.#options = options;
    this.#credentials = credentialsFor(address, options.env);
  }

  fetch(
    ref: string,
    known: readonly Oid[],
    inspect: (objects: ObjectDatabase, tip: Oid) => void,
    signal: AbortSignal,
    below?: RefsBelow,
  ): Promise<FetchedBranch | undefined> {
    return this.#inQuarantine(known, async (quarantine) => {
      const targets = [`+${ref}:refs/heads/fetched`, ...(below ? [sameRefs(below)] : [])];
      const { status, complaint } = await this.#fetchInto(quarantine, targets, signal);
      if (status !== 0) {
        if (/couldn't find remote ref/.test(complaint)) return undefined;
        throw refusalOf(this.#address, complaint);
      }
      const path = join(quarantine.gitDir, 'refs/heads/fetched');
      const tip = readFileSync(path, 'latin1').trim();
      if (!isOid(tip)) return undefined;
      const objects = quarantine.objects();
      try {
        inspect(objects, tip);
        const found = below ? this.#inspected(quarantine, objects, below) : none;
        await quarantine.keep();
        return { tip, below: found };
      } finally {
        objects.close();
      }
    });
  }

  fetchBelow(below: RefsBelow, signal: AbortSignal): Promise<ReadonlyMap<string, Oid>> {
    return this.#inQuarantine([], async (quarantine) => {
      const { status, complaint } = await this.#fetchInto(quarantine, [sameRefs(below)], signal);
      if (status !== 0) throw refusalOf(this.#address, complaint);
      const objects = quarantine.objects();
      try {
        const kept = this.#inspected(quarantine, objects, below);
        if (kept.size > 0) await quarantine.keep();
        return kept;
      } finally {
        objects.close();
      }
    });
  }

  #fetchInto(
    quarantine: Quarantine,
    targets: readonly string[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const options = ['--quiet', '--no-tags', '--no-recurse-submodules'];
    const pack = this.#otherSide('upload-pack');
    const args = ['fetch', ...options, ...pack, '--', this.#address.url, ...targets];
    return this.#run(quarantine, args, signal);
  }

  /** The fetched refs below a prefix that are to be kept. */
  #inspected(
    { gitDir }: Quarantine,
    objects: ObjectDatabase,
    { prefix, inspect }: RefsBelow,
  ): ReadonlyMap<string, Oid> {
    const refs = new Refs(this.#options.disk.files, gitDir, gitDir).list(prefix);
    return inspect(objects, new Map(refs.map(({ ref, oid }) => [ref, oid])));
  }

  visit<T>(
    wanted: string,
    look: (objects: ObjectDatabase, tip: Oid) => T,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    return this.#inQuarantine([], async (quarantine) => {
      const target = 'refs/fetched/tip';
      const alone = [`+${wanted}:${target}`, '--depth=1'] as const;
      // Some servers give only the commits of their branches by id: then all branches are fetched.
      const all = ['+refs/heads/*:refs/fetched/heads/*'] as const;
      for (const [refspec, ...more] of isOid(wanted) ? [alone, all] : [alone]) {
        const options = ['--quiet', '--no-tags', '--no-recurse-submodules', ...more];
        const pack = this.#otherSide('upload-pack');
        // Git refuses objects here that `git fsck` would later report in the repository.
        const args = [
          '-c',
          'fetch.fsckObjects=true',
          'fetch',
          ...options,
          ...pack,
          '--',
          this.#address.url,
          refspec,
        ];
        const { status, complaint } = await this.#run(quarantine, args, signal);
        if (status !== 0 && !isMissing.test(complaint)) throw refusalOf(this.#address, complaint);
        if (status === 0) return lookInto(quarantine, isOid(wanted) ? wanted : target, look);
        if (!/unadvertised/.test(complaint)) return undefined;
      }
      return undefined;
    });
  }

  push({ ref, from, to }: Push, signal: AbortSignal): Promise<boolean> {
    return this.#push(ref, to, from === undefined ? [] : [from], [], signal);
  }

  swap({ ref, from, to }: Lease, signal: AbortSignal): Promise<boolean> {
    const lease = `--force-with-lease=${ref}:${from ?? ''}`;
    return this.#push(ref, to, [], [lease], signal);
  }

  #push(
    ref: string,
    to: Oid | undefined,
    known: readonly Oid[],
    more: readonly string[],
    signal: AbortSignal,
  ): Promise<boolean> {
    return this.#inQuarantine(known, async (quarantine) => {
      const options = ['--porcelain', '--no-verify', '--no-recurse-submodules', ...more];
      const pack = this.#otherSide('receive-pack');
      const args = ['push', ...options, ...pack, '--', this.#address.url, `${to ?? ''}:${ref}`];
      const { status, output, complaint } = await this.#run(quarantine, args, signal);
      const [, refusal] = /^!\t\S+\t\[[a-z ]+\] \(?(.*?)\)?$/m.exec(output) ?? [];
      if (status !== 0 && refusal === undefined) throw refusalOf(this.#address, complaint);
      if (refusal === undefined) return true;
      if (lostRace.test(refusal)) return false;
      const messages = (complaint.match(/^remote: .*/gm) ?? []).join('\n');
      throw pushRefusal(this.#address.url, ref, refusal, messages);
    });
  }

  #otherSide(program: 'upload-pack' | 'receive-pack'): string[] {
    return this.#address.kind === 'folder' ? [`--${program}=git ${otherSide} ${program}`] : [];
  }

  async #inQuarantine<T>(
    known: readonly Oid[],
    work: (quarantine: Quarantine) => Promise<T>,
  ): Promise<T> {
    const { disk, commonDir, limit = maxFetched } = this.#options;
    try {
      const options = { config: this.#config(), known, limit };
      const quarantine = new Quarantine(disk, commonDir, options);
      try {
        return await work(quarantine);
      } finally {
        quarantine.remove();
      }
    } catch (error) {
      throw storageError(error, 'sync');
    }
  }

  /** The configuration of the git directory in which git works. */
  #config(): string {
    const { url } = this.#address;
    const { partial, disk, commonDir } = this.#options;
    const { name } = objectFormatIn(disk.files, commonDir);
    const extensions = [
      partial ? '\tpartialClone = memory-bank\n' : '',
      // A git from before 2.29 knows no other format than this, and not the setting.
      name === 'sha1' ? '' : `\tobjectFormat = ${name}\n`,
    ].join('');
    return [
      `[core]\n\trepositoryformatversion = ${extensions === '' ? 0 : 1}\n\tbare = true\n`,
      // For conditions in the user's configuration (`includeIf "hasconfig:remote.*.url:…"`).
      `[remote "memory-bank"]\n\turl = ${quoted(url)}\n`,
      partial ? '\tpromisor = true\n' : '',
      extensions === '' ? '' : `[extensions]\n${extensions}`,
      // The address is already rewritten. The longest rule wins, which is this one.
      `[url ${quoted(url)}]\n\tinsteadOf = ${quoted(url)}\n\tpushInsteadOf = ${quoted(url)}\n`,
      ...this.#credentials.sections,
    ].join('');
  }

  #check(): Promise<void> {
    const { disk, commonDir, env } = this.#options;
    const isSha1 = objectFormatIn(disk.files, commonDir) === sha1;
    return checkGit(env, isSha1 ? firstGit.sync : firstGit.sha256);
  }

  async #run(
    quarantine: Quarantine,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    this.#checked ??= this.#check();
    await this.#checked;
    return runGit([...settings.flatMap((setting) => ['-c', setting]), ...args], {
      cwd: quarantine.gitDir,
      env: this.#environment(quarantine.gitDir),
      signal,
      limit: this.#options.timeout ?? defaultTimeout,
      guard: () => quarantine.check(),
    });
  }

  #environment(gitDir: string): NodeJS.ProcessEnv {
    const { env, sshCommand } = this.#options;
    const own = Object.entries(env).filter(([name]) => {
      if (name.startsWith('GIT_')) return kept.test(name);
      return !/^(?:SSH_ASKPASS|MEMORY_BANK_)/.test(name);
    });
    const usual = env.GIT_SSH ? undefined : 'ssh -o BatchMode=yes -o ConnectTimeout=30';
    const ssh = env.GIT_SSH_COMMAND ?? sshCommand ?? usual;
    return {
      ...Object.fromEntries(own),
      ...this.#credentials.env,
      GIT_DIR: gitDir,
      GIT_ALLOW_PROTOCOL: this.#protocols(),
      ...(ssh !== undefined && { GIT_SSH_COMMAND: ssh }),
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '',
      SSH_ASKPASS_REQUIRE: 'never',
      GCM_INTERACTIVE: 'never',
      LC_ALL: 'C',
    };
  }

  /** The protocols that git may use, also for redirects. */
  #protocols(): string {
    const { kind, url } = this.#address;
    if (kind === 'http') return url.startsWith('https:') ? 'https' : 'http:https';
    return kind === 'ssh' ? 'ssh' : 'file';
  }
}

const none: ReadonlyMap<string, Oid> = new Map();

/** The refspec by which refs keep their names. */
function sameRefs({ prefix }: RefsBelow): string {
  return `+${prefix}*:${prefix}*`;
}

/** Looks at a fetched commit; undefined if it was not fetched. */
function lookInto<T>(
  quarantine: Quarantine,
  wanted: string,
  look: (objects: ObjectDatabase, tip: Oid) => T,
): T | undefined {
  const tip = isOid(wanted)
    ? wanted
    : readFileSync(join(quarantine.gitDir, wanted), 'latin1').trim();
  const objects = quarantine.objects();
  try {
    return objects.has(tip) ? look(objects, tip) : undefined;
  } finally {
    objects.close();
  }
}

/** Messages of git that the remote does not have a branch or commit. */
const isMissing =
  /couldn't find remote ref|not our ref|unadvertised object|remote did not send all necessary objects/;
