/** The header by which the page proves that a request is its own. */
export const sessionHeader = 'X-Memory-Page';

/** The name of the secret in the storage of the page, which no server on another port can read. */
const place = 'memory-bank-session';

/** Used while the browser keeps nothing for this page. */
let inMemory: string | undefined;

/** Returns the header that belongs to the cookie of the session; none without a session. */
export function sessionHeaders(): { readonly [name: string]: string } {
  const secret = kept() ?? inMemory;
  return secret === undefined ? {} : { [sessionHeader]: secret };
}

/** Returns the secret of a session that is about to be opened. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Keeps the secret of the open session, for all tabs. */
export function keepSecret(secret: string): void {
  inMemory = secret;
  try {
    localStorage.setItem(place, secret);
  } catch {
    // A browser that keeps nothing asks for the key again after a reload.
  }
}

/** Takes the secret of a new session out of the address, where the server has put it. */
export function takeSecret(): void {
  const [, secret] = /^#session=([\w-]+)$/.exec(location.hash) ?? [];
  if (secret === undefined) return;
  keepSecret(secret);
  history.replaceState(null, '', location.pathname + location.search);
}

function kept(): string | undefined {
  try {
    return localStorage.getItem(place) ?? undefined;
  } catch {
    return undefined;
  }
}
