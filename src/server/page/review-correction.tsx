import { useState } from 'preact/hooks';
import type { RecordData } from './answers.ts';
import { useAnswer } from './data.ts';
import { GrowingText } from './growing-text.tsx';
import { Waiting } from './parts.tsx';
import type { ReviewItem } from './review-item.tsx';

/** Corrects the proposed text, of a log only the entry. */
export function Correction({
  item: { section, difference },
  at,
  onSave,
  onCancel,
}: {
  item: ReviewItem;
  /** The commit of the review that is corrected. */
  at: string;
  onSave: (content: { path: string; before: string; text: string }) => void;
  onCancel: () => void;
}) {
  const { path } = difference;
  const whole = useAnswer<RecordData>(`/memory/record/${path}`, { at });
  const part = useAnswer<RecordData>(section === undefined ? undefined : `/memory/record/${path}`, {
    at,
    section,
  });
  const [text, setText] = useState<string>();
  const before = whole.data?.text;
  const entry = section === undefined ? before : part.data?.text;
  if (before === undefined || entry === undefined) {
    return <Waiting answer={before === undefined ? whole : part}>{() => null}</Waiting>;
  }
  const start = before.indexOf(entry);
  // Of two entries with the same text, the other one could be meant.
  const isOnlyOne = start === before.lastIndexOf(entry);
  const old = isOnlyOne ? entry : before;
  const next = text ?? old;
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        const after = before.slice(0, start) + next + before.slice(start + old.length);
        onSave({ path, before, text: isOnlyOne ? after : next });
      }}
    >
      <GrowingText
        class="source"
        least={8}
        aria-label={`Text of ${section ?? path}`}
        value={next}
        onText={setText}
      />
      <p class="row">
        <button type="submit" class="main" disabled={next === old}>
          Save in the review
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </form>
  );
}
