import { useEffect, useState } from 'preact/hooks';
import { onChange } from './changes.ts';
import { keepSecret, newSecret, sessionHeader, sessionHeaders } from './page-session.ts';
import { RefusedRequest } from './refused-request.ts';
import { addressOf, type Query } from './request-address.ts';
import { projectPath } from './route.ts';
import { compareClocks } from './server-clock.ts';
import type { SignInBegun, SignInWay } from './sign-in-answers.ts';

let answerer: ((address: string) => Promise<unknown>) | undefined;

/** Lets a function answer all requests, in place of a server. */
export function answerBy(answer: (address: string) => Promise<unknown>): void {
  answerer = answer;
}

/** Does some work, and returns why the server refused it; empty if it did not. */
export async function refusalOf(work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return '';
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    return error.message;
  }
}

/** Asks the server to change the memory. */
export function change<T>(path: string, body: object): Promise<T> {
  return send<T>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Opens a session with a key. */
export async function signIn(key: string): Promise<void> {
  const secret = newSecret();
  const headers = { Authorization: `Bearer ${key}`, [sessionHeader]: secret };
  await send('/session', { method: 'POST', headers });
  keepSecret(secret);
}

/** Asks how a person can sign in. */
export function readSignInWay(): Promise<SignInWay> {
  return send<SignInWay>('/sign-in', {});
}

/** Begins a sign-in by the issuer, whose session will be bound to a secret. */
export function beginSignIn(secret: string): Promise<SignInBegun> {
  return send<SignInBegun>('/sign-in/begin', {
    method: 'POST',
    headers: { [sessionHeader]: secret },
  });
}

/**
 * Opens a session with the answer of the issuer.
 *
 * @param project the beginning of the paths of the project that the person wants to see.
 */
export async function finishSignIn(
  project: string,
  answer: URLSearchParams,
  secret: string,
): Promise<void> {
  await send('/sign-in/finish', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', [sessionHeader]: secret },
    body: JSON.stringify(Object.fromEntries(answer)),
    project,
  });
  keepSecret(secret);
}

interface Sent extends Omit<RequestInit, 'headers'> {
  readonly headers?: { readonly [name: string]: string };
  /** The beginning of the path; by default that of the project of the page. */
  readonly project?: string;
}

async function send<T>(
  address: string,
  { headers, project = projectPath, ...init }: Sent,
): Promise<T> {
  // The copy answers with the types of the server.
  if (answerer) return (await answerer(address)) as T;
  const response = await fetch(`${project}${address}`, {
    credentials: 'same-origin',
    ...init,
    headers: { ...sessionHeaders(), ...headers },
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new RefusedRequest(0, 'The server does not answer. It may have ended.');
  });
  compareClocks(response);
  const body = await response.json().catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw error;
    // A proxy in between answers with a page of its own.
    throw new RefusedRequest(response.status, `The answer cannot be read: ${response.status}.`);
  });
  if (response.ok) return body;
  throw new RefusedRequest(response.status, body?.error?.message ?? response.statusText);
}

/** A request that is on its way, with the number of components that wait for it. */
interface Pending {
  readonly answer: Promise<unknown>;
  readonly cancel: AbortController;
  waiting: number;
}

const pending = new Map<string, Pending>();
// A request that was sent before a change may have an answer without it.
onChange(() => pending.clear());

/** Sends a request once for all components that want it at the same time; returns how to give it up. */
function share<T>(address: string): { answer: Promise<T>; giveUp: () => void } {
  let shared = pending.get(address);
  if (!shared) {
    const cancel = new AbortController();
    const answer = send<T>(address, { signal: cancel.signal }).finally(() => {
      if (pending.get(address)?.cancel === cancel) pending.delete(address);
    });
    shared = { answer, cancel, waiting: 0 };
    pending.set(address, shared);
  }
  const one = shared;
  one.waiting++;
  return {
    // The address determines the type of the answer.
    answer: one.answer as Promise<T>,
    giveUp() {
      if (--one.waiting > 0) return;
      if (pending.get(address) === one) pending.delete(address);
      one.cancel.abort();
    },
  };
}

/** The data of a request, as far as they are known. */
export interface Answered<T> {
  /** The data; while the next data is on its way, the previous data. */
  readonly data: T | undefined;
  readonly error: RefusedRequest | undefined;
  readonly waiting: boolean;
  /** Sends the request again. */
  reload(): void;
}

/** The pause before an answer that is only a part is asked for again, in milliseconds. */
const partPause = 250;

/** Asks again for an answer until it is not a part any more. */
export function useWhole<T extends { readonly isPart?: boolean | undefined }>(answer: Answered<T>) {
  const isPart = answer.data?.isPart === true && !answer.waiting;
  useEffect(() => {
    if (!isPart) return;
    const timer = setTimeout(answer.reload, partPause);
    return () => clearTimeout(timer);
  }, [isPart, answer.data]);
}

/** Reads data when a component appears and when its request changes; an older request is cancelled. */
export function useAnswer<T>(path: string | undefined, query: Query = {}): Answered<T> {
  const address = path && addressOf(path, query);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<Omit<Answered<T>, 'reload' | 'waiting'> & { of: string }>({
    data: undefined,
    error: undefined,
    of: '',
  });
  const wanted = `${turn} ${address}`;
  useEffect(() => onChange(() => setTurn((old) => old + 1)), []);
  useEffect(() => {
    if (!address) return;
    let isOver = false;
    const { answer, giveUp } = share<T>(address);
    answer
      .then((data) => !isOver && setState({ data, error: undefined, of: wanted }))
      .catch((error: unknown) => {
        if (isOver) return;
        if (!(error instanceof RefusedRequest)) throw error;
        setState({ data: undefined, error, of: wanted });
      });
    return () => {
      isOver = true;
      giveUp();
    };
  }, [wanted]);
  const { data, error, of } = state;
  return { data, error, waiting: of !== wanted, reload: () => setTurn((old) => old + 1) };
}
