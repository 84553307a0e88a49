import { useEffect, useState } from 'preact/hooks';
import { beginSignIn, finishSignIn, readSignInWay, signIn } from './data.ts';
import { newSecret } from './page-session.ts';
import { RefusedRequest } from './refused-request.ts';
import { isCopy, projectPath } from './route.ts';
import type { SignInWay } from './sign-in-answers.ts';
import { keepAttempt, takeAttempt } from './sign-in-attempts.ts';

/** The page to which the issuer sends the browser back; it is the same for all projects. */
const returnPath = '/view/sign-in';

/** The addresses of pages, of which the first part names the project. */
const pagePath = /^(\/p\/[^/]+)?\/view(?:\/|$)/;

/** Asks for a key, or leads to the issuer, where there is no session. */
export function SignIn({ onDone }: { onDone: () => void }) {
  const [problem, setProblem] = useState('');
  const [way, setWay] = useState<SignInWay | undefined>(undefined);
  useEffect(() => {
    // Without an answer, the key is the only way.
    readSignInWay().then(setWay, () => {});
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    try {
      await signIn(String(new FormData(form).get('key')));
      onDone();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setProblem('The server does not accept this key.');
    }
  };
  return (
    <main class="sign-in">
      <h1>Memory Bank</h1>
      <p>This browser has no session.</p>
      {way?.issuer && <IssuerWay way={way} onProblem={setProblem} />}
      <p>
        {way?.issuer && 'There are other ways: '}Run <code>memory-bank view</code> for a link that
        opens one; a link works once. For <code>memory-bank serve</code>, enter your key or access
        token; with an API key of agents you can read, but not decide on their changes.
      </p>
      <form class="row" onSubmit={submit}>
        <input name="key" type="password" aria-label="Key" autoComplete="off" required />
        <button type="submit" class={way?.issuer ? undefined : 'main'}>
          Open
        </button>
      </form>
      <p class="problem" role="alert" hidden={problem === ''}>
        {problem}
      </p>
    </main>
  );
}

/** Leads to the issuer, or first to the address of this server that the issuer knows. */
function IssuerWay({
  way: { issuer, address },
  onProblem,
}: {
  way: SignInWay;
  onProblem: (problem: string) => void;
}) {
  const known = new URL(address ?? location.origin);
  if (known.origin !== location.origin) {
    const there = known.origin + location.pathname + location.search;
    return (
      <p>
        To sign in with {issuer}, open <a href={there}>{known.origin}</a>.
      </p>
    );
  }
  const begin = () => leaveForIssuer(location.href.slice(location.origin.length), onProblem);
  return (
    <p>
      <button type="button" class="main" onClick={begin}>
        Sign in with {issuer}
      </button>
    </p>
  );
}

/** Goes to the issuer; afterwards the browser returns to a page. */
async function leaveForIssuer(page: string, onProblem: (problem: string) => void): Promise<void> {
  const secret = newSecret();
  try {
    const { location: there, state } = await beginSignIn(secret);
    if (keepAttempt({ state, secret, page })) location.assign(there);
    else onProblem('This browser keeps no data for this page, which the sign-in needs.');
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    onProblem(error.message);
  }
}

/** Whether the browser comes back from the issuer. */
export function isSignInReturn(): boolean {
  return !isCopy && location.pathname === returnPath;
}

/** The answer of the issuer, which leaves the address: nobody should copy or bookmark it. */
export function takeIssuerAnswer(): URLSearchParams {
  const answer = new URLSearchParams(location.search);
  history.replaceState(null, '', returnPath);
  return answer;
}

/** Finishes a sign-in with the answer of the issuer, and goes to the page where it began. */
export function SignInReturn({ answer }: { answer: URLSearchParams }) {
  const [problem, setProblem] = useState('');
  const [page, setPage] = useState('/view/');
  useEffect(() => {
    const attempt = takeAttempt(answer.get('state') ?? '');
    if (!attempt) {
      setProblem('This browser did not begin this sign-in, or has finished it already.');
      return;
    }
    const back = ownPage(attempt.page);
    setPage(back);
    const [, project = ''] = pagePath.exec(back) ?? [];
    finishSignIn(project, answer, attempt.secret)
      .then(() => location.replace(back))
      .catch((error: unknown) => {
        if (!(error instanceof RefusedRequest)) throw error;
        setProblem(error.message);
      });
  }, [answer]);
  if (problem === '') {
    return (
      <main class="sign-in">
        <p role="status">Signing in…</p>
      </main>
    );
  }
  return (
    <main class="sign-in">
      <h1>You are not signed in</h1>
      <p class="problem" role="alert">
        {problem}
      </p>
      <p class="row">
        <button type="button" class="main" onClick={() => leaveForIssuer(page, setProblem)}>
          Begin again
        </button>
        <a href={page}>Open the window by a key</a>
      </p>
    </main>
  );
}

/** Returns the address of a page of this server; the first page for any other address. */
function ownPage(page: string): string {
  const { origin, pathname, search, hash } = new URL(page, location.origin);
  const isOwn = origin === location.origin && pagePath.test(pathname) && pathname !== returnPath;
  return isOwn ? pathname + search + hash : `${projectPath}/view/`;
}
