import { MemoryError } from '../../core/values/error.ts';
import { firstGit } from '../repository/git-version.ts';
import { type Address, withoutLogins } from './login.ts';
import { tooOld } from './program.ts';

/** A message of git or ssh, and the error that a user gets for it. */
interface Refusal {
  readonly said: RegExp;
  /** The end of a sentence that begins with the address. */
  readonly means: string;
  /** Whether the words of git add to that. */
  readonly isQuoted: boolean;
  readonly hint: string;
  readonly data?: { readonly status: number };
}

const credentials =
  'Run "git fetch" once in a terminal, with a credential helper that keeps the login, or set MEMORY_BANK_GIT_CREDENTIALS to https://user:token@host. The token has to allow a push.';

/** The refusals of a remote over HTTP, in different versions of git; the first that fits counts. */
const overHttp: readonly Refusal[] = [
  {
    said: /could not read (?:Username|Password)|unable to (?:get password from user|read askpass response)/,
    means: 'asks for credentials',
    isQuoted: false,
    hint: credentials,
    data: { status: 401 },
  },
  {
    said: /Authentication failed|returned error: 401/,
    means: 'does not accept the credentials',
    isQuoted: false,
    hint: credentials,
    data: { status: 401 },
  },
  {
    said: /returned error: 403/,
    means: 'accepts the credentials, and does not allow this with them (403)',
    isQuoted: false,
    hint: 'The login or token needs the right to read and to push there. Another one: "git fetch" in a terminal, or MEMORY_BANK_GIT_CREDENTIALS.',
    data: { status: 403 },
  },
  {
    said: /certificate (?:problem|verification failed|subject name)|self[- ]signed certificate|issuer certificate|no alternative certificate/i,
    means: 'has a certificate that git does not trust here',
    isQuoted: true,
    hint: 'For an authority of your own: "git config --global http.sslCAInfo <file with its certificate>", or GIT_SSL_CAINFO. NODE_EXTRA_CA_CERTS has no effect.',
  },
];

/** The refusals of ssh and of its server. */
const overSsh: readonly Refusal[] = [
  {
    said: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    means: 'has another host key than the one that ssh knows',
    isQuoted: false,
    hint: 'If its administrator says that the key was changed: "ssh-keygen -R <host>", then "git fetch" once in a terminal.',
  },
  {
    said: /Host key verification failed/,
    means: 'has a host key that ssh does not know',
    isQuoted: false,
    hint: 'Run "git fetch" once in a terminal, and compare the fingerprint that it shows with that of the server.',
  },
  {
    said: /Permission denied \(|Too many authentication failures/,
    means: 'accepts no key that ssh offers',
    isQuoted: true,
    hint: 'Keys come from ssh-agent and ~/.ssh. One with a passphrase has to be in the agent ("ssh-add"), because nothing asks for it here. Another ssh is named by GIT_SSH_COMMAND or by core.sshCommand in your own configuration, never by the repository.',
  },
];

/** The refusals of every remote. */
const general: readonly Refusal[] = [
  {
    said: /timed out|connection refused|could not resolve host|failed to connect|couldn't connect|network is unreachable|no route to host/i,
    means: 'cannot be reached',
    isQuoted: true,
    hint: 'Check the network and the address, then try again.',
  },
  {
    said: /does not appear to be a git repository|repository .*not found/i,
    means: 'cannot be used',
    isQuoted: true,
    hint: 'Check the address, and whether you may read the repository.',
  },
  {
    said: /^(?!.*returned error).*(?:hung up unexpectedly|unexpected disconnect|connection (?:was )?(?:closed|reset)|early EOF|broken pipe|empty reply|transfer closed)/is,
    means: 'ended the connection too early',
    isQuoted: true,
    hint: 'Try again: nothing is sent twice.',
  },
];

const known: { readonly [kind in Address['kind']]: readonly Refusal[] } = {
  http: [...overHttp, ...general],
  ssh: [...overSsh, ...general],
  folder: general,
};

const otherwise: { readonly [kind in Address['kind']]: string } = {
  http: ' "git fetch" in a terminal uses the same settings of yours: proxy, certificates, credential helpers.',
  ssh: ' "git fetch" in a terminal uses the same keys and settings of yours.',
  folder: '',
};

/** Messages of git that the remote names its objects in another way. */
const otherFormat = /mismatched algorithms|does not support this repository's hash algorithm/;

/** Lines that git adds to every failure of a connection, and the frame of a warning of ssh. */
const noise =
  /^(?:fatal: )?(?:Could not read from remote repository\.|Please make sure you have the correct access rights|and the repository exists\.|@.*@)$|^(?:fatal|error|warning|remote): /gm;

/** Returns the error for what git said when a remote could not be used. */
export function refusalOf({ kind, url }: Address, complaint: string): MemoryError {
  const name = withoutLogins(url);
  const unknown = /unknown repository extensions? found:\s*(\w+)/.exec(complaint)?.[1];
  if (unknown !== undefined) {
    const needed = /refstorage/i.test(unknown) ? firstGit.tables : firstGit.sha256;
    return tooOld(`${name} has the extension ${unknown}`, needed);
  }
  if (otherFormat.test(complaint)) {
    return new MemoryError('unsupported', `${name} has object ids of another format.`, {
      hint: 'Git exchanges nothing between a SHA-1 and a SHA-256 repository: see "git rev-parse --show-object-format" in both. Nothing was changed.',
    });
  }
  const found = known[kind].find(({ said }) => said.test(complaint));
  const hint = `Nothing was changed here. ${found?.hint ?? otherwise[kind]}`.replace(/\s+/g, ' ');
  const said = found?.isQuoted === false ? '.' : `: ${plainly(complaint)}`;
  return new MemoryError('remote', `${name} ${found?.means ?? 'cannot be used'}${said}`, {
    hint: hint.trim(),
    ...(found?.data && { data: found.data }),
  });
}

/**
 * Returns the error for a push that the remote refuses, in the words of the remote.
 *
 * @param messages the lines that it said in addition.
 */
export function pushRefusal(url: string, ref: string, refusal: string, messages: string) {
  const said = plainly(messages);
  const advice = ref.startsWith('refs/heads/')
    ? 'To push to another branch: "git switch -c <name>", then "git push -u <remote> <name>".'
    : 'The server has to let you create, change and delete refs below refs/memory-bank/.';
  return new MemoryError(
    'remote',
    `${withoutLogins(url)} refuses the push: ${withoutLogins(refusal)}.`,
    { hint: `${said === '' ? '' : `It says: ${said} `}Nothing was changed. ${advice}` },
  );
}

/** The words of git in one line, without those that say nothing and without logins. */
function plainly(text: string): string {
  return withoutLogins(text).replace(noise, '').replace(/\s+/g, ' ').trim().slice(0, 500);
}
