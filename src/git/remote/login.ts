/** The address of a remote. */
export interface Address {
  readonly kind: 'http' | 'ssh' | 'folder';
  /** For HTTP without the login, because command lines are visible. */
  readonly url: string;
  /** The user and the password in the address. */
  readonly login?: Login;
}

/** The user and the password for a remote over HTTP; each is empty if unknown. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

/** Logins for git: sections of a configuration, and the variables that these name. */
export interface Credentials {
  readonly sections: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns the logins of an address and of `MEMORY_BANK_GIT_CREDENTIALS` as credential helpers.
 *
 * A helper belongs to one origin, so git itself does not send a login to another host. It replaces the
 * user's helpers there, which therefore never store these logins.
 */
export function credentialsFor({ kind, url, login }: Address, env: NodeJS.ProcessEnv): Credentials {
  if (kind !== 'http') return { sections: [], env: {} };
  const own = { origin: new URL(url).origin, username: '', password: '', ...login };
  const listed = (env.MEMORY_BANK_GIT_CREDENTIALS ?? '')
    .split(/\s+/)
    .flatMap((text) => (URL.canParse(text) ? [new URL(text)] : []))
    .map((one) => ({ origin: one.origin, ...loginOf(one) }))
    .filter(({ origin, username }) => {
      return own.username === '' || origin !== own.origin || username === own.username;
    });
  const known = own.password === '' ? listed : [own, ...listed];
  const begun = new Set<string>();
  const sections = known.map(({ origin }, i) => {
    const reset = begun.has(origin) ? '' : '\thelper =\n';
    begun.add(origin);
    const script = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$${name(i, 'USER')}" "$${name(i, 'PASSWORD')}"; }; f`;
    return `[credential ${quoted(origin)}]\n${reset}\thelper = ${quoted(script)}\n`;
  });
  if (own.username !== '' && own.password === '') {
    sections.push(`[credential ${quoted(own.origin)}]\n\tusername = ${quoted(own.username)}\n`);
  }
  const variables = known.flatMap(({ username, password }, i) => [
    [name(i, 'USER'), username],
    [name(i, 'PASSWORD'), password],
  ]);
  return { sections, env: Object.fromEntries(variables) };
}

/** Returns the login in an address. */
export function loginOf({ username, password }: URL): Login {
  return { username: decoded(username), password: decoded(password) };
}

/** Removes the users and passwords of the addresses in a text. */
export function withoutLogins(text: string): string {
  return text.replace(/(https?:\/\/)[^\s/]*@/gi, '$1').replace(/([^\s/:@'"]):[^\s/]+@/g, '$1@');
}

/** Quotes a value, or the name of a subsection, for a configuration file of git. */
export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function name(i: number, what: string): string {
  return `MEMORY_BANK_GIT_${what}_${i}`;
}

/** Decodes a value and drops control characters: a line end would start a new line of the answer. */
function decoded(text: string): string {
  let plain = text;
  try {
    plain = decodeURIComponent(text);
  } catch {
    // Not percent-encoded.
  }
  return plain.replace(/[\u0000-\u001f\u007f]/g, '');
}
