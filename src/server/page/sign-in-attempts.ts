/** A sign-in by the issuer that this browser has begun. */
export interface SignInAttempt {
  readonly state: string;
  /** The secret that the session is bound to. */
  readonly secret: string;
  /** The address of the page to which the person wants to return. */
  readonly page: string;
}

/**
 * The name of the attempts in the storage of the page.
 *
 * The issuer may send the person back in another tab, such as by a link in a mail.
 */
const place = 'memory-bank-sign-in';

/** The limit of attempts that are kept: a person may begin in several tabs. */
const maxAttempts = 5;

/** Keeps an attempt; returns whether the browser has kept it. */
export function keepAttempt(attempt: SignInAttempt): boolean {
  try {
    const kept = [...attempts(), attempt].slice(-maxAttempts);
    localStorage.setItem(place, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}

/** Takes the attempt with a state; undefined if this browser did not begin it. */
export function takeAttempt(state: string): SignInAttempt | undefined {
  const all = attempts();
  const found = all.find((one) => one.state === state);
  if (!found) return undefined;
  const others = all.filter((one) => one !== found);
  if (others.length === 0) localStorage.removeItem(place);
  else localStorage.setItem(place, JSON.stringify(others));
  return found;
}

function attempts(): SignInAttempt[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isAttempt) : [];
  } catch {
    return [];
  }
}

function isAttempt(value: unknown): value is SignInAttempt {
  const { state, secret, page } = Object(value);
  return [state, secret, page].every((part) => typeof part === 'string');
}
