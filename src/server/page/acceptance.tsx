import { useState } from 'preact/hooks';
import type { Accepted } from './answers.ts';
import { ConfirmedButton, changedMeanwhile, useConfirmation } from './confirmation.tsx';
import { ConflictChoice } from './conflict-choice.tsx';
import { change, RefusedRequest } from './data.ts';

type Side = 'ours' | 'theirs';
type Conflicts = Accepted['conflicts'];

/** The acceptance of changes, with the decisions that it needs. */
export interface Acceptance {
  /** The records that need a decision, of the commit that is shown. */
  readonly conflicts: Conflicts;
  readonly decisions: Readonly<Record<string, Side>>;
  decide(path: string, side: Side): void;
  /**
   * Sends the request.
   *
   * @returns the number of changed records; undefined if decisions are needed first.
   * @throws RefusedRequest
   */
  accept(path: string, body: object): Promise<number | undefined>;
}

/** @param seen the commit that is shown: the decisions are about its texts. */
export function useAcceptance(seen: string): Acceptance {
  const [found, setFound] = useState<{ readonly conflicts: Conflicts; readonly of: string }>();
  const [decisions, setDecisions] = useState<Readonly<Record<string, Side>>>({});
  // A later change of the agent needs another decision.
  const conflicts = found?.of === seen ? found.conflicts : [];
  return {
    conflicts,
    decisions,
    decide: (path, side) => setDecisions({ ...decisions, [path]: side }),
    async accept(path, body) {
      const known = conflicts.map((one) => one.path);
      const won = (side: Side) => known.filter((one) => decisions[one] === side);
      const sides = { ours: won('ours'), theirs: won('theirs') };
      const answer = await change<Accepted>(path, { ...body, seen, ...sides });
      if (found?.of !== seen) setDecisions({});
      setFound({ conflicts: answer.conflicts, of: seen });
      return answer.conflicts.length > 0 ? undefined : answer.changes;
    },
  };
}

/** The records of an acceptance that need a decision, with both versions; nothing if there are none. */
export function AcceptanceConflicts({
  acceptance: { conflicts, decisions, decide },
  group,
  other,
}: {
  acceptance: Acceptance;
  /** The beginning of the names of the radio buttons. */
  group: string;
  /** The name of the other side. */
  other: string;
}) {
  if (conflicts.length === 0) return null;
  return (
    <>
      <p role="alert">
        The memory has other changes of {conflicts.length === 1 ? 'this record' : 'these records'}.
        Choose a side, and accept again. A side wins where the changes contradict each other.
      </p>
      {conflicts.map(({ path, reasons, ours, theirs }) => (
        <div key={path}>
          <ConflictChoice<Side>
            path={path}
            group={`${group} ${path}`}
            sides={[
              { name: 'ours', label: 'The memory', text: ours },
              { name: 'theirs', label: other, text: theirs },
            ]}
            chosen={decisions[path]}
            onChoose={(side) => decide(path, side)}
          >
            <p class="faint">{reasons.join('; ')}</p>
          </ConflictChoice>
        </div>
      ))}
    </>
  );
}

/**
 * Accepts a record or a section of another branch, after the person has confirmed it.
 *
 * The server refuses a branch with another last commit than the one that is shown.
 */
export function Accept({
  address,
  review,
  branch,
  seen,
  label = 'Accept',
  onDone,
}: {
  address: string;
  /** The name of the review; undefined for any other branch. */
  review: string | undefined;
  branch: string;
  seen: string;
  label?: string;
  onDone: () => void;
}) {
  const acceptance = useAcceptance(seen);
  const { action, isLost, ask, end } = useConfirmation<'accept'>(seen);
  const [said, setSaid] = useState('');
  const accept = async () => {
    end();
    setSaid('');
    try {
      const [path, name] =
        review === undefined
          ? ['/memory/branches/accept', { branch }]
          : ['/memory/reviews/accept', { name: review }];
      const changes = await acceptance.accept(path, { ...name, records: [address] });
      if (changes === undefined) return;
      setSaid(changes === 0 ? 'It is the same now.' : 'done');
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setSaid(error.message);
    }
    onDone();
  };
  return (
    <>
      <AcceptanceConflicts
        acceptance={acceptance}
        group={`${branch} ${address}`}
        other={review === undefined ? branch : 'The review'}
      />
      <ConfirmedButton
        label={label}
        isAsked={action !== undefined}
        onAsk={() => ask('accept')}
        onCancel={end}
        onConfirm={accept}
      />
      <span role="status">
        {isLost && ` ${changedMeanwhile}`}
        {said !== '' && ` ${said}`}
      </span>
    </>
  );
}
