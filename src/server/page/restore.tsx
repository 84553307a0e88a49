import { useState } from 'preact/hooks';
import type { Restored } from './answers.ts';
import { ConfirmedButton, changedMeanwhile, useConfirmation } from './confirmation.tsx';
import { change } from './data.ts';
import { RefusedRequest } from './refused-request.ts';
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
  const [undone, setUndone] = useState<Restored['undone']>([]);
  const { action, isLost, ask, end } = useConfirmation<'restore'>(seen);
  const restore = async () => {
    end();
    setState('running');
    try {
      const { restored, removed, undone } = await change<Restored>('/memory/restore', {
        path,
        revision,
        removes,
        seen,
      });
      setUndone(undone);
      setState(restored.length + removed.length > 0 ? 'done' : { problem: 'It is the same now.' });
      onDone();
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setState({ problem: error.message });
      onDone();
    }
  };
  if (isCopy) return null;
  return (
    <>
      <ConfirmedButton
        label={label}
        isAsked={action !== undefined}
        isRunning={state === 'running'}
        onAsk={() => {
          setState('');
          ask('restore');
        }}
        onCancel={end}
        onConfirm={restore}
      />
      <span role="status">
        {isLost && ` ${changedMeanwhile}`}
        {state === 'done' && ' done'}
        {state === 'done' &&
          undone.map(({ oid, author, subject }) => (
            <span key={oid} class="faint">
              {' '}
              undid {oid.slice(0, 12)} {author}: {subject}
            </span>
          ))}
        {typeof state === 'object' && ` ${state.problem}`}
      </span>
    </>
  );
}
