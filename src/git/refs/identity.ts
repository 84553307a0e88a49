import type { Signature } from '../objects/object.ts';
import type { GitConfig } from '../repository/config.ts';

const fallback = { name: 'memory-bank', email: 'memory-bank@localhost' };

/**
 * The user's git identity; repository configuration overrides global, and the default is `memory-bank`.
 *
 * @param role `author.*` and `committer.*` override `user.*`, as in git.
 */
export function identity(config: GitConfig, role: 'author' | 'committer', time: Date): Signature {
  const name = clean(config.get(`${role}.name`) ?? config.get('user.name') ?? '');
  const email = clean(config.get(`${role}.email`) ?? config.get('user.email') ?? '');
  return {
    name: name || fallback.name,
    email: email || (name ? '' : fallback.email),
    seconds: Math.floor(time.getTime() / 1000),
    offset: -time.getTimezoneOffset(),
  };
}

/** The characters that git removes from a name: line ends, angle brackets, punctuation at both ends. */
function clean(text: string): string {
  return text.replace(/[\0\n\r<>]/g, '').replace(/^[\s.,:;"'\\]+|[\s.,:;"'\\]+$/g, '');
}
