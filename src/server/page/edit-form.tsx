import { useEffect, useState } from 'preact/hooks';
import { DraftOffer, useDraft } from './draft-offer.tsx';
import type { Draft } from './drafts.ts';
import { GrowingText } from './growing-text.tsx';
import { Scrolling } from './parts.tsx';
import { reasonField, Saving, saveByKey, saveRecord, usePreview } from './saving.tsx';

/** Edits the text of a record, with a preview; if it was changed meanwhile, shows both texts. */
export function EditForm({
  path,
  text: given,
  heading,
}: {
  path: string;
  text: string;
  /** The section to begin with; null for the beginning of the text. */
  heading: string | null;
}) {
  // The text that the person began with: an event may bring another one while they type.
  const [before, setBefore] = useState(given);
  const [began, setBegan] = useState(given);
  const [text, setText] = useState(given);
  const [reason, setReason] = useState('');
  const [theirs, setTheirs] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const preview = usePreview(path, { text });
  useEffect(() => {
    if (heading !== null) goToHeading(heading);
  }, []);
  const isTyped = text !== before || reason !== '';
  const draft = useDraft(
    'text',
    path,
    isTyped ? { texts: { text, [reasonField]: reason }, began: { text: began } } : undefined,
  );
  const hasChanged = ({ began }: Draft) => began.text !== before;
  const take = (earlier: Draft) => {
    draft.take(earlier);
    setBegan(earlier.began.text ?? before);
    setText(earlier.texts.text ?? before);
    setReason(earlier.texts[reasonField] ?? '');
    setTheirs(hasChanged(earlier) ? before : undefined);
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const now = await saveRecord({ path, before, text }, reason, draft, setProblem);
    if (!now) return;
    setTheirs(now.text);
    // The next save replaces the text that the person sees now, and no later one.
    setBefore(now.text);
  };
  return (
    <form class="edit" onSubmit={save} onKeyDown={saveByKey}>
      <DraftOffer draft={draft} hasChanged={hasChanged} onTake={take} />
      {theirs !== undefined && (
        <section role="alert">
          <h2>The record was changed while you edited it</h2>
          <p>This is its text now. Yours is below; saving it again replaces this one.</p>
          <Scrolling label="The text of the record now">
            <pre class="source">{theirs}</pre>
          </Scrolling>
          <button type="button" onClick={() => setText(theirs)}>
            Use this text instead of mine
          </button>
        </section>
      )}
      <div class="field">
        <label for="text">Text</label>
        <GrowingText id="text" least={18} spellcheck={false} value={text} onText={setText} />
      </div>
      <Saving
        path={path}
        reason={reason}
        onReason={setReason}
        label={theirs === undefined ? 'Save as a commit' : 'Save my text over it'}
        isReady={text !== before && preview?.problem === undefined}
        problem={preview?.problem ?? problem}
        preview={preview}
      />
    </form>
  );
}

/** Selects the line of a heading in the field, which scrolls to it. */
function goToHeading(heading: string): void {
  const field = document.querySelector<HTMLTextAreaElement>('#text');
  if (!field) return;
  const lines = field.value.split('\n');
  const found = lines.findIndex((line) => /^#{1,6}[ \t]/.test(line) && line.includes(heading));
  if (found < 0) return;
  const start = lines.slice(0, found).join('\n').length + (found === 0 ? 0 : 1);
  field.focus();
  field.setSelectionRange(start, start + (lines[found]?.length ?? 0));
}
