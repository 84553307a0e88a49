import { useState } from 'preact/hooks';
import type { ConfirmableList, ConfirmedPart } from './answers.ts';
import { change, refusalOf, useAnswer } from './data.ts';
import { Time } from './parts.tsx';

type Part = ConfirmableList['parts'][number];

/** Says who has confirmed a record and its entries as they are, with a button for each. */
export function Confirmations({ path, seen }: { path: string; seen: string | undefined }) {
  const { data, reload } = useAnswer<ConfirmableList>('/memory/confirmable', { path });
  const [whole, ...entries] = data?.parts ?? [];
  // A person who has written it just now need not confirm it.
  if (!whole || seen === undefined) return null;
  return (
    <section class="confirmations" aria-label="Confirmations">
      <Confirm part={whole} name="this record" seen={seen} onDone={reload} />
      {entries.length > 1 && (
        <details>
          <summary>Its entries</summary>
          <ul class="plain">
            {entries.map((part) => (
              <li key={part.address}>
                {part.title} <Confirm part={part} name={part.title} seen={seen} onDone={reload} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** A part of a record, and the button by which a person says that it is right as it is. */
function Confirm({
  part: { address, confirmed },
  name = address,
  seen,
  onDone,
}: {
  part: Part;
  name: string | undefined;
  /** The last commit of the record that is shown: a later state is not confirmed unseen. */
  seen: string;
  onDone: () => void;
}) {
  const [said, setSaid] = useState('');
  const [isRunning, setRunning] = useState(false);
  const confirm = async () => {
    setSaid('');
    setRunning(true);
    const refusal = await refusalOf(async () => {
      await change<ConfirmedPart>('/memory/confirm', { address, seen });
    });
    setSaid(refusal === '' ? 'done' : refusal);
    setRunning(false);
    onDone();
  };
  return (
    <span>
      <button type="button" disabled={isRunning} aria-label={`Confirm ${name}`} onClick={confirm}>
        Confirm
      </button>{' '}
      {confirmed && (
        <span class="faint">
          confirmed <Time at={confirmed.at} /> by {confirmed.author}
        </span>
      )}
      <span role="status">{said !== '' && ` ${said}`}</span>
    </span>
  );
}
