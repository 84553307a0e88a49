import { useState } from 'preact/hooks';
import { type Acceptance, useAcceptance } from './acceptance.tsx';
import { change } from './data.ts';
import { RefusedRequest } from './refused-request.ts';
import type { Corrected, Dropped, Undone } from './review-answers.ts';

interface Undo {
  /** The last commit of the review before the decision. */
  readonly tip: string;
  /** The commit that accepted it. */
  readonly accepted?: string;
  /** The state that dropping it has brought back. */
  readonly dropped?: string | undefined;
}

/** A decision about a record. */
interface Step {
  readonly address: string;
  readonly action: 'Accepted' | 'Dropped';
  /** The request that takes it back; undefined if that cannot be done in one step. */
  readonly undo: Undo | undefined;
}

/** The last answer to a step; a refusal stays until the next step, whatever the page reloads meanwhile. */
export interface Said {
  readonly text: string;
  readonly isRefusal: boolean;
}

/** The text to say about a step, and the last commit of the review after it. */
interface Taken {
  readonly text: string;
  readonly reviewTip?: string | undefined;
}

/** The decisions about the records of one review, one at a time. */
export interface ReviewSteps {
  readonly acceptance: Acceptance;
  readonly steps: readonly Step[];
  readonly said: Said;
  readonly isRunning: boolean;
  accept(address: string, comment: string): Promise<void>;
  /** @param from the path that the record had before a move, which comes back as well. */
  drop(address: string, from: string | undefined): Promise<void>;
  undo(): Promise<void>;
  /** Saves a corrected text in the review; returns whether it is saved. */
  correct(content: { path: string; before: string; text: string }): Promise<boolean>;
}

const nothingSaid: Said = { text: '', isRefusal: false };

/**
 * @param seen the last commit of the review that is shown.
 * @param onDone called after each step that the server has taken, with the last commit of the review then.
 */
export function useReviewSteps(
  name: string,
  seen: string,
  onDone: (reviewTip: string | undefined) => void,
): ReviewSteps {
  const acceptance = useAcceptance(seen);
  const [steps, setSteps] = useState<readonly Step[]>([]);
  const [said, setSaid] = useState(nothingSaid);
  const [isRunning, setIsRunning] = useState(false);
  const run = async (work: () => Promise<Taken | undefined>) => {
    if (isRunning) return false;
    setIsRunning(true);
    setSaid(nothingSaid);
    try {
      const taken = await work();
      if (!taken) return false;
      setSaid({ text: taken.text, isRefusal: false });
      onDone(taken.reviewTip);
      return true;
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setSaid({ text: error.message, isRefusal: true });
      return false;
    } finally {
      setIsRunning(false);
    }
  };
  const decided = (step: Step, { reviewTip }: Pick<Taken, 'reviewTip'>) => {
    setSteps((old) => [...old, step]);
    return { text: `${step.action} ${step.address}.`, reviewTip };
  };
  return {
    acceptance,
    steps,
    said,
    isRunning,
    async accept(address, comment) {
      await run(async () => {
        const line = comment.trim();
        const body = { name, records: [address], ...(line !== '' && { comment: line }) };
        const made = await acceptance.request('/memory/reviews/accept', body);
        if (made.conflicts.length > 0) return undefined;
        const undo = made.commit === undefined ? undefined : { tip: seen, accepted: made.commit };
        return decided({ address, action: 'Accepted', undo }, made);
      });
    },
    async drop(address, from) {
      await run(async () => {
        const body = { name, seen, records: from === undefined ? [address] : [address, from] };
        const made = await change<Dropped>('/memory/reviews/drop', body);
        const undo = from === undefined ? { tip: made.tip, dropped: made.base } : undefined;
        return decided({ address, action: 'Dropped', undo }, made);
      });
    },
    async undo() {
      const last = steps.at(-1);
      if (!last?.undo) return;
      await run(async () => {
        const { address, undo } = last;
        const body = { name, record: address, ...undo };
        const { reviewTip } = await change<Undone>('/memory/reviews/undo', body);
        setSteps((old) => old.slice(0, -1));
        return { text: `${address} waits again.`, reviewTip };
      });
    },
    correct: (content) =>
      run(async () => {
        const body = { name, ...content };
        const { reviewTip } = await change<Corrected>('/memory/reviews/edit', body);
        const text = `Corrected ${content.path}. It still waits for you to accept it.`;
        return { text, reviewTip };
      }),
  };
}
