import { Component, type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Props {
  /** Names the content: after an error, another content is drawn as usual. */
  readonly of: string;
  /** A way on, next to another try. */
  readonly way?: ComponentChildren;
  readonly children: ComponentChildren;
}

interface State {
  readonly of: string;
  readonly error: { readonly thrown: unknown } | undefined;
}

/** Shows its children, or the error of their code with the ways on; the rest of the window stays. */
export class FailureBoundary extends Component<Props, State> {
  override state: State = { of: this.props.of, error: undefined };

  static override getDerivedStateFromProps({ of }: Props, state: State): State | null {
    return state.of === of ? null : { of, error: undefined };
  }

  static override getDerivedStateFromError(thrown: unknown): Partial<State> {
    return { error: { thrown } };
  }

  override render({ children, way }: Props, { error }: State) {
    if (!error) return children;
    const retry = () => this.setState({ error: undefined });
    return <Failure error={error.thrown} way={way} onRetry={retry} />;
  }
}

function Failure({
  error,
  way,
  onRetry,
}: {
  error: unknown;
  way: ComponentChildren;
  onRetry: () => void;
}) {
  return (
    <section role="alert">
      <h1>This page has stopped</h1>
      <p>
        An error in the program keeps it from showing this page. The memory is not changed by it.
        Please report what happened.
      </p>
      <FailureReport error={error}>
        <button type="button" class="main" onClick={onRetry}>
          Try again
        </button>
        {way}
      </FailureReport>
    </section>
  );
}

/** Reports errors outside of what is drawn, such as in an answer to a click: the page is still there. */
export function LateFailure() {
  const [error, setError] = useState<Error | undefined>(undefined);
  useEffect(() => {
    const show = (thrown: unknown) => {
      if (thrown instanceof Error && thrown.name !== 'AbortError') setError(thrown);
    };
    const onError = (event: ErrorEvent) => show(event.error);
    const onRejection = (event: PromiseRejectionEvent) => show(event.reason);
    addEventListener('error', onError);
    addEventListener('unhandledrejection', onRejection);
    return () => {
      removeEventListener('error', onError);
      removeEventListener('unhandledrejection', onRejection);
    };
  }, []);
  if (!error) return null;
  return (
    <section role="alert" class="banner">
      <p class="problem">
        An error in the program has stopped the last step. Look whether it was done before you try
        again.
      </p>
      <FailureReport error={error}>
        <button type="button" onClick={() => setError(undefined)}>
          Close
        </button>
      </FailureReport>
    </section>
  );
}

/** The error as a text, with a button that copies it. */
function FailureReport({ error, children }: { error: unknown; children: ComponentChildren }) {
  const text = useRef(reportOf(error)).current;
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      // Only a page of this computer, or one with TLS, has a clipboard.
      await navigator.clipboard.writeText(text);
      setSaid('Copied.');
    } catch {
      setSaid('The browser does not allow it. Select the text below and copy it.');
    }
  };
  return (
    <>
      <p class="row">
        {children}
        <button type="button" onClick={copy}>
          Copy what happened
        </button>
        <span role="status">{said}</span>
      </p>
      <details open={said.startsWith('The browser')}>
        <summary>What happened</summary>
        <pre class="source">{text}</pre>
      </details>
    </>
  );
}

function reportOf(error: unknown): string {
  const what = error instanceof Error ? `${error}` : `Thrown: ${String(error)}`;
  const stack = error instanceof Error ? (error.stack ?? '').replace(what, '').trim() : '';
  const address = location.pathname + location.search + location.hash;
  return [what, stack, `Page: ${address}`, `Browser: ${navigator.userAgent}`]
    .filter((line) => line !== '')
    .join('\n');
}
