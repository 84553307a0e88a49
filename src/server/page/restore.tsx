import { useState } from 'preact/hooks';
import type { Restored } from './answers.ts';
import { change, RefusedRequest } from './data.ts';
import { isCopy } from './route.ts';

/** Brings a state back, after the person has confirmed it. */
export function Restore({
  path,
  revision,
  seen,
  label = 'Restore',
  removes = false,
  onDone,
}: {
  path: string;
  revision: string;
  /** The commit whose state of the record is shown; a later one is not replaced unseen. */
  seen: string | undefined;
  label?: string;
  /** Whether a record that the revision does not have is removed. */
  removes?: boolean;
  onDone: () => void;
}) {
  const [state, setState] = useState<'' | 'running' | 'done' | { problem: string }>('');
  const [asked, setAsked] = useState<{ readonly seen: string | undefined }>();
  // A change disarms the button.
  const isAsked = asked !== undefined && asked.seen === seen;
  const restore = async () => {
    setAsked(undefined);
    setState('running');
    try {
      const { restored, removed } = await change<Restored>('/memory/restore', {
        path,
        revision,
        removes,
        seen,
      });
      setState(restored.length + removed.length > 0 ? 'done' : { problem: 'It is the same now.' });
      onDone();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setState({ problem: error.message });
      onDone();
    }
  };
  if (isCopy) return null;
  if (isAsked) {
    return (
      <>
        <button type="button" class="main" onClick={restore}>
          {label} as a new commit
        </button>{' '}
        <button type="button" onClick={() => setAsked(undefined)}>
          Cancel
        </button>
      </>
    );
  }
  return (
    <>
      <button
        type="button"
        disabled={state === 'running'}
        onClick={() => {
          setState('');
          setAsked({ seen });
        }}
      >
        {label}
      </button>
      <span role="status">
        {asked && !isAsked && ' It has changed meanwhile. Look at it again.'}
        {state === 'done' && ' done'}
        {typeof state === 'object' && ` ${state.problem}`}
      </span>
    </>
  );
}
