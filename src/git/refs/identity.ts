import { MemoryError } from '../../core/values/error.ts';
import type { Signature } from '../objects/object.ts';
import type { GitConfig } from '../repository/config.ts';

/** Author and committer of a commit. */
export type Role = 'author' | 'committer';

/** The identity where git would ask who the user is. */
export const fallbackIdentity = { name: 'memory-bank', email: 'memory-bank@localhost' };

/**
 * The user's git identity, from the same places and in the same order as for a commit of git: the
 * environment, `author.*` or `committer.*`, `user.*`, and for the address `EMAIL`.
 *
 * Where git would ask who the user is, it is `memory-bank`. The time is always that of the change: a
 * server can inherit a `GIT_AUTHOR_DATE` that was meant for one commit.
 *
 * @throws MemoryError `unsupported` where git refuses: a name without letters or digits, or none with
 *   `user.useConfigOnly`.
 */
export function identity(config: GitConfig, role: Role, time: Date): Signature {
  const given = givenName(config, role);
  const name = given && clean(given.text);
  if (given && !name) {
    throw unsupported(
      `the name of the ${role} in ${given.from} is empty`,
      `Correct ${given.from}.`,
    );
  }
  if (!given && isForbidden(config, 'name')) throw unknown('name', role);
  const address = givenAddress(config, role);
  if (address === undefined && isForbidden(config, 'email')) throw unknown('email', role);
  const email = clean(address ?? (config.env.EMAIL || (name ? '' : fallbackIdentity.email)));
  return {
    name: name ?? fallbackIdentity.name,
    email,
    seconds: Math.floor(time.getTime() / 1000),
    offset: -time.getTimezoneOffset(),
  };
}

/** Whether the user has given a name for a role. */
export function hasName(config: GitConfig, role: Role): boolean {
  return givenName(config, role) !== undefined;
}

/** The first name that is given, and the variable or setting that has it. An empty `user.name` counts. */
function givenName(config: GitConfig, role: Role) {
  const variable = `GIT_${role.toUpperCase()}_NAME`;
  const text = config.env[variable];
  if (text !== undefined) return { text, from: variable };
  const own = config.get(`${role}.name`);
  if (own) return { text: own, from: `${role}.name` };
  const common = config.get('user.name');
  return common === undefined ? undefined : { text: common, from: 'user.name' };
}

function givenAddress(config: GitConfig, role: Role): string | undefined {
  const variable = config.env[`GIT_${role.toUpperCase()}_EMAIL`];
  return variable ?? (config.get(`${role}.email`) || config.get('user.email'));
}

/** Whether git may use only its configuration, and that has no value for anyone. */
function isForbidden(config: GitConfig, part: 'name' | 'email'): boolean {
  const sections = ['user', 'author', 'committer'];
  const isGiven = sections.some((section) => config.get(`${section}.${part}`) !== undefined);
  return !isGiven && config.bool('user.useconfigonly') === true;
}

function unknown(part: 'name' | 'email', role: Role): MemoryError {
  return unsupported(
    `there is no ${part} for its ${role}, and user.useConfigOnly asks for one`,
    `Run "git config user.${part} <${part}>".`,
  );
}

function unsupported(reason: string, hint: string): MemoryError {
  return new MemoryError('unsupported', `The commit cannot be made: ${reason}.`, {
    hint: `${hint} Git refuses it as well.`,
  });
}

/**
 * A name without the characters that git removes: line ends, angle brackets, punctuation at both ends. The
 * period stays, as in "Jr."; older versions of git remove it as well.
 */
function clean(text: string): string {
  return text.replace(/[\0\n\r<>]/g, '').replace(/^[\s,:;"'\\]+|[\s,:;"'\\]+$/g, '');
}
