import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { MemoryError } from '../../core/values/error.ts';
import { errno } from '../disk/file-layer.ts';
import { removal } from '../disk/held-files.ts';
import { cancelled } from '../index/index-mark.ts';
import {
  type EncodedObject,
  encodeObject,
  formatName,
  type Oid,
  type Signature,
} from '../objects/object.ts';
import { formatOf, type ObjectFormat } from '../objects/object-format.ts';
import type { GitConfig } from '../repository/config.ts';
import { isTrue } from '../repository/config-text.ts';
import { findProgram, programToStart } from '../repository/program-start.ts';
import type { CommitPlan } from './commit-plan.ts';

/** Time limit of a signing program, in milliseconds: the user may have to type a passphrase. */
const limit = 60_000;

/** Makes the signature of a commit from the commit's bytes. */
export type Sign = (payload: Buffer) => Promise<string>;

/** Whether commits are to be signed. */
export function doesSign(env: NodeJS.ProcessEnv): boolean {
  return isTrue(env.MEMORY_BANK_SIGN ?? '');
}

/** The default signing program of each format. */
const programs = new Map([
  ['openpgp', 'gpg'],
  ['ssh', 'ssh-keygen'],
  ['x509', 'gpgsm'],
]);

/**
 * Signs commits as `git commit -S` does, if `MEMORY_BANK_SIGN` is set; undefined otherwise.
 *
 * Format and key come from the configuration. The program comes from the user's own configuration or is
 * git's default: a program that a repository names is never run.
 */
export function signerOf(
  config: GitConfig,
  committer: Signature,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Sign | undefined {
  const method = methodOf(config, env);
  if (!method) return undefined;
  const { format, key, program } = method;
  const run = (args: readonly string[], input: Buffer) =>
    runProgram(program, args, input, env, signal);
  if (format !== 'ssh') {
    const args = ['--status-fd=2', '-bsau', key || formatName(committer)];
    return (payload) => run(args, payload);
  }
  return (payload) =>
    withFiles(payload, key, async (keyFile, file, agent) => {
      const args = ['-Y', 'sign', '-n', 'git', '-f', keyFile, ...(agent ? ['-U'] : []), file];
      await run(args, Buffer.alloc(0));
      return readFile(`${file}.sig`, 'latin1');
    });
}

/**
 * Refuses a configuration that cannot sign, as far as that can be checked without signing.
 *
 * @throws MemoryError `unsupported`.
 */
export function checkSigning(config: GitConfig, env: NodeJS.ProcessEnv): void {
  const method = methodOf(config, env);
  if (method && !findProgram(method.program, env)) throw notInstalled(method.program);
}

/** How commits are signed; undefined if they are not. */
function methodOf(config: GitConfig, env: NodeJS.ProcessEnv) {
  if (!doesSign(env)) return undefined;
  const format = config.get('gpg.format') ?? 'openpgp';
  const usual = programs.get(format);
  if (usual === undefined) throw cannotSign(`gpg.format is "${format}"`);
  const key = config.get('user.signingkey') ?? '';
  if (format === 'ssh' && key === '') throw cannotSign('user.signingKey is not set');
  const older = format === 'openpgp' ? config.own('gpg.program') : undefined;
  return { format, key, program: config.own(`gpg.${format}.program`) ?? older ?? usual };
}

/** Returns the plan with each new commit signed. */
export async function signPlan(plan: CommitPlan, sign: Sign): Promise<CommitPlan> {
  const signed = new Map<Oid, EncodedObject>();
  const idOf = (oid: Oid) => signed.get(oid)?.oid ?? oid;
  for (const { type, oid, content } of plan.objects) {
    if (type !== 'commit') continue;
    const payload = withParents(content, idOf);
    const format = formatOf(oid);
    const signature = await sign(payload);
    if (!signature.startsWith('-----BEGIN ')) throw cannotSign('the program gave no signature');
    signed.set(oid, encodeObject('commit', withSignature(payload, signature, format), format));
  }
  return {
    ...plan,
    commits: plan.commits.map(({ oid, before, log }) => {
      return { oid: idOf(oid), before: before && idOf(before), log };
    }),
    objects: plan.objects.map((object) => signed.get(object.oid) ?? object),
  };
}

/** A commit without its signature. */
export function withoutSignature(commit: Uint8Array): Buffer {
  return editHead(commit, (head) => head.replace(/^gpgsig(?:-sha256)? .*\n(?: .*\n)*/gm, ''));
}

function withParents(commit: Uint8Array, idOf: (oid: Oid) => Oid): Buffer {
  return editHead(commit, (head) =>
    head.replace(/^parent (.*)$/gm, (_, oid: Oid) => `parent ${idOf(oid)}`),
  );
}

/** Adds a signature as the last header field of a commit (gitformat-signature). */
function withSignature(commit: Uint8Array, signature: string, { name }: ObjectFormat): Buffer {
  const field = name === 'sha1' ? 'gpgsig' : 'gpgsig-sha256';
  const lines = signature.replaceAll('\r', '').trimEnd().split('\n').join('\n ');
  return editHead(commit, (head) => `${head}${field} ${lines}\n`);
}

/** A commit with its fields changed; every byte of its message stays. */
function editHead(commit: Uint8Array, edit: (head: string) => string): Buffer {
  const text = Buffer.from(commit).toString('latin1');
  const end = text.indexOf('\n\n') + 1;
  return Buffer.from(edit(text.slice(0, end)) + text.slice(end), 'latin1');
}

/** Writes the files that `ssh-keygen` reads: the commit and, if it is given as text, the key. */
async function withFiles<T>(
  payload: Buffer,
  key: string,
  work: (keyFile: string, file: string, agent: boolean) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'memory-bank-sign-'));
  try {
    const file = join(folder, 'commit');
    await writeFile(file, payload);
    const literal = /^(?:key::(?=.)|(?=ssh-))(.*)$/s.exec(key)?.[1];
    if (literal === undefined) return await work(key.replace(/^~(?=\/)/, homedir()), file, false);
    await writeFile(join(folder, 'key'), `${literal}\n`, { mode: 0o600 });
    return await work(join(folder, 'key'), file, true);
  } finally {
    await rm(folder, removal);
  }
}

/** Runs a signing program; returns its output. */
async function runProgram(
  program: string,
  args: readonly string[],
  input: Buffer,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<string> {
  // Without the terminal, which belongs to the client; an agent asks for a passphrase in its own window.
  const { GPG_TTY, ...rest } = env;
  const path = programToStart(program, env);
  if (path === undefined) throw notInstalled(program);
  const child = spawn(path, args, {
    env: { ...rest, LC_ALL: 'C' },
    detached: process.platform !== 'win32',
    windowsHide: true,
    timeout: limit,
    signal,
  });
  // Its exit status and output say more than a broken pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  try {
    const [status, output, complaint] = await Promise.all([
      ended,
      text(child.stdout),
      text(child.stderr),
    ]);
    if (status === 0) return output;
    const reasons = complaint.split('\n').filter((line) => !/^(?:\[GNUPG:\].*|\s*)$/.test(line));
    throw cannotSign(`${program}: ${reasons.join('; ').slice(0, 500) || 'it gave no answer'}`);
  } catch (error) {
    if (signal?.aborted) throw cancelled();
    if (errno(error) === 'ENOENT') throw notInstalled(program);
    throw error;
  }
}

function notInstalled(program: string): MemoryError {
  return cannotSign(`${program} is not installed`);
}

function cannotSign(why: string): MemoryError {
  return new MemoryError('unsupported', `The commit cannot be signed: ${why}.`, {
    hint: 'Nothing was changed. Make "git commit -S" work without a terminal, or unset MEMORY_BANK_SIGN.',
  });
}
