import { useState } from 'preact/hooks';
import type { Restored } from './answers.ts';
import { change, RefusedRequest } from './data.ts';
import { isCopy } from './route.ts';

/** Brings a state back, after the person has confirmed it. */
export function Restore({
  path,
  revision,
  label = 'Restore',
  removes = false,
  onDone,
}: {
  path: string;
  revision: string;
  label?: string;
  /** Whether a record that the revision does not have is removed. */
  removes?: boolean;
  onDone: () => void;
}) {
  const [state, setState] = useState<'' | 'asked' | 'running' | 'done' | { problem: string }>('');
  const restore = async () => {
    setState('running');
    try {
      const { restored, removed } = await change<Restored>('/memory/restore', {
        path,
        revision,
        removes,
      });
      setState(restored.length + removed.length > 0 ? 'done' : { problem: 'It is the same now.' });
      onDone();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setState({ problem: error.message });
    }
  };
  if (isCopy) return null;
  if (state === 'asked') {
    return (
      <>
        <button type="button" class="main" onClick={restore}>
          {label} as a new commit
        </button>{' '}
        <button type="button" onClick={() => setState('')}>
          Cancel
        </button>
      </>
    );
  }
  return (
    <>
      <button type="button" disabled={state === 'running'} onClick={() => setState('asked')}>
        {label}
      </button>
      <span role="status">
        {state === 'done' && ' done'}
        {typeof state === 'object' && ` ${state.problem}`}
      </span>
    </>
  );
}
