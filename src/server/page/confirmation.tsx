import { useState } from 'preact/hooks';

/** A question to the person about a state that is shown. */
export interface Confirmation<A> {
  /** The action that the person is asked about; undefined without a question. */
  readonly action: A | undefined;
  /** Whether the state has changed since the question. */
  readonly isLost: boolean;
  ask(action: A): void;
  end(): void;
}

/**
 * Asks the person before a change. Another state takes the question back, so that nothing is confirmed
 * unseen.
 *
 * @param seen the commit whose state is shown.
 */
export function useConfirmation<A>(seen: string | undefined): Confirmation<A> {
  const [asked, setAsked] = useState<{ readonly action: A; readonly of: string | undefined }>();
  const isCurrent = asked !== undefined && asked.of === seen;
  return {
    action: isCurrent ? asked.action : undefined,
    isLost: asked !== undefined && !isCurrent,
    ask: (action) => setAsked({ action, of: seen }),
    end: () => setAsked(undefined),
  };
}

/** The text for a question that was taken back. */
export const changedMeanwhile = 'It has changed meanwhile. Look at it again.';

/** A button for a change that becomes a commit, after the person has confirmed it. */
export function ConfirmedButton({
  label,
  isAsked,
  isRunning = false,
  onAsk,
  onCancel,
  onConfirm,
}: {
  label: string;
  isAsked: boolean;
  isRunning?: boolean;
  onAsk: () => void;
  onCancel: () => void;
  onConfirm: () => void;
}) {
  if (isAsked) {
    return (
      <>
        <button type="button" class="main" onClick={onConfirm}>
          {label} as a new commit
        </button>{' '}
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </>
    );
  }
  return (
    <button type="button" disabled={isRunning} onClick={onAsk}>
      {label}
    </button>
  );
}
