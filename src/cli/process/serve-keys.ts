import { readFileSync } from 'node:fs';
import { counted } from '../../core/answers/painter.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isLoopback } from '../../server/http/server/address.ts';
import { type FlagValues, flagText } from '../line/command.ts';

/** Minimum length of a key, in characters: a shorter one could be guessed. */
const leastKey = 16;

/** The keys that are made for a run without any: one for programs, and one for people. */
export interface MadeKeys {
  readonly program: string;
  readonly person: string;
}

/** The keys that a server accepts. */
interface ServeKeys {
  /** Those of programs; undefined when the server requires none. */
  readonly keys: readonly string[] | undefined;
  /** Those of people, who also review the changes of agents. */
  readonly personKeys: readonly string[];
}

/**
 * Reads the keys of a server from its options and the environment.
 *
 * @param made the generated keys, valid where these name none.
 */
export function serveKeys(
  host: string,
  values: FlagValues,
  env: NodeJS.ProcessEnv,
  made: MadeKeys,
): ServeKeys {
  const keys = programKeys(host, values, env, made.program);
  const given = readKeys(flagText(values, 'person-key-file'), env, 'MEMORY_BANK_PERSON_KEYS');
  if (given.some((key) => keys?.includes(key))) {
    throw new MemoryError('invalid_input', 'A key of a person is also an API key.', {
      hint: 'Agents have the API keys, and must not review their own changes. Make another key.',
    });
  }
  const isMade = given.length === 0 && keys?.includes(made.program);
  return { keys, personKeys: isMade ? [made.person] : given };
}

function programKeys(
  host: string,
  values: FlagValues,
  env: NodeJS.ProcessEnv,
  made: string,
): readonly string[] | undefined {
  if (values['no-auth']) {
    if (isLoopback(host)) return undefined;
    throw new MemoryError('invalid_input', `--no-auth is refused on ${host}.`, {
      hint: 'Without a key the server listens on a loopback address only.',
    });
  }
  const file = flagText(values, 'api-key-file');
  const keys = readKeys(file, env, 'MEMORY_BANK_API_KEYS');
  // An access token is a way in, so no key has to be made up.
  if (keys.length > 0 || (file === undefined && values.issuer !== undefined)) return keys;
  if (file !== undefined) throw new MemoryError('invalid_input', `There is no key in ${file}.`);
  return [made];
}

/** Returns the keys in a file, or without one in a variable of the environment. */
function readKeys(
  file: string | undefined,
  env: NodeJS.ProcessEnv,
  variable: string,
): readonly string[] {
  const keys = list(file === undefined ? env[variable] : readText(file, 'key file'));
  const short = keys.find((key) => key.length < leastKey);
  if (short === undefined) return keys;
  // The key itself stays out of the message, which may be kept in a log.
  const text = `A key in ${file ?? variable} has only ${counted(short.length, 'character')}.`;
  throw new MemoryError('invalid_input', text, {
    hint: `Use at least ${leastKey}: "openssl rand -hex 32" makes a good one.`,
  });
}

/** Reads a file that an option names. */
export function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MemoryError('invalid_input', `The ${what} ${file} cannot be read.`, { cause });
  }
}

/** Returns the parts of a list that commas or white space separate. */
export function list(text = ''): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}
