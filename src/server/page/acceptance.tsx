import { useState } from 'preact/hooks';
import { questionsOf } from '../../core/memory/conflict-address.ts';
import { ConfirmedButton, changedMeanwhile, useConfirmation } from './confirmation.tsx';
import { ConflictChoice, OwnText } from './conflict-choice.tsx';
import { change } from './data.ts';
import { valueText } from './parts.tsx';
import { RefusedRequest } from './refused-request.ts';
import type { Accepted, FieldConflictAnswer as Field } from './review-answers.ts';

type Side = 'ours' | 'theirs';
type Choice = Side | { readonly text: string };
type Choices = Readonly<Record<string, Choice>>;
type Conflicts = Accepted['conflicts'];

/** The conflicts of the commit that is shown. */
interface Found extends Pick<Accepted, 'conflicts' | 'state'> {
  readonly of: string;
}

/** The acceptance of changes, with the decisions that it needs. */
export interface Acceptance {
  /** The records that need a decision, of the commit that is shown. */
  readonly conflicts: Conflicts;
  /** By the address of a field, or of a record that can only be decided as a whole. */
  readonly choices: Choices;
  choose(address: string, choice: Choice): void;
  /**
   * Sends the request.
   *
   * @returns the number of changed records; undefined if decisions are needed first.
   * @throws RefusedRequest
   */
  accept(path: string, body: object): Promise<number | undefined>;
  /** Sends the request, and returns the whole answer. */
  request(path: string, body: object): Promise<Accepted>;
}

/** @param seen the commit that is shown: the decisions are about its texts. */
export function useAcceptance(seen: string): Acceptance {
  const [known, setFound] = useState<Found>();
  const [all, setChoices] = useState<Choices>({});
  // A later change of the agent needs another decision.
  const found = known?.of === seen ? known : undefined;
  const choices = found ? all : {};
  const acceptance: Acceptance = {
    conflicts: found?.conflicts ?? [],
    choices,
    choose: (address, choice) => setChoices({ ...choices, [address]: choice }),
    async accept(path, body) {
      const { conflicts, changes } = await acceptance.request(path, body);
      return conflicts.length > 0 ? undefined : changes;
    },
    async request(path, body) {
      const made = Object.entries(choices);
      const won = (side: Side) => made.flatMap(([one, choice]) => (choice === side ? [one] : []));
      const texts = made.flatMap(([one, choice]) =>
        typeof choice === 'string' ? [] : [[one, choice.text] as const],
      );
      const decisions = {
        ours: won('ours'),
        theirs: won('theirs'),
        texts: Object.fromEntries(texts),
        ...(made.length > 0 && { decided: found?.state }),
      };
      try {
        const answer = await change<Accepted>(path, { ...body, seen, ...decisions });
        // With the same state, the choices are still about the texts that are shown.
        if (found?.state !== answer.state) setChoices({});
        setFound({ ...answer, of: seen });
        return answer;
      } catch (error) {
        setFound(undefined);
        setChoices({});
        throw error;
      }
    },
  };
  return acceptance;
}

/** The conflicts of an acceptance, field by field with both values; nothing if there are none. */
export function AcceptanceConflicts({
  acceptance: { conflicts, choices, choose },
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
        Choose a side for each, and accept again. Changes that do not contradict each other are
        merged.
      </p>
      {questionsOf<Field, Conflicts[number]>(conflicts).map(({ conflict, field, address }) => {
        const choice = choices[address];
        const { base, ours, theirs } = field ?? { base: undefined, ...conflict };
        const shown = (value: unknown) => (value === undefined ? undefined : valueText(value));
        return (
          <div key={address}>
            <ConflictChoice<Side>
              path={address}
              group={`${group} ${address}`}
              base={shown(base)}
              sides={[
                { name: 'ours', label: 'The memory', text: shown(ours) },
                { name: 'theirs', label: other, text: shown(theirs) },
              ]}
              chosen={typeof choice === 'string' ? choice : undefined}
              onChoose={(side) => choose(address, side)}
            >
              <p class="faint">{conflict.reasons.join('; ')}</p>
              {typeof ours === 'string' && typeof theirs === 'string' && (
                <OwnText
                  path={address}
                  group={`${group} ${address}`}
                  isChosen={typeof choice === 'object'}
                  text={typeof choice === 'object' ? choice.text : `${ours}\n${theirs}`}
                  onText={(text) => choose(address, { text })}
                />
              )}
            </ConflictChoice>
          </div>
        );
      })}
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
  /** Receives what came of it: the record may leave the page with its button. */
  onDone: (said: string) => void;
}) {
  const acceptance = useAcceptance(seen);
  const { action, isLost, ask, end } = useConfirmation<'accept'>(seen);
  const [said, setSaid] = useState('');
  const accept = async () => {
    end();
    setSaid('');
    let text = '';
    try {
      const [path, name] =
        review === undefined
          ? ['/memory/branches/accept', { branch }]
          : ['/memory/reviews/accept', { name: review }];
      const changes = await acceptance.accept(path, { ...name, records: [address] });
      if (changes === undefined) return;
      text = changes === 0 ? 'It is the same now.' : 'done';
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      text = error.message;
    }
    setSaid(text);
    onDone(text);
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
