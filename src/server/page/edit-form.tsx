import { useState } from 'preact/hooks';
import type { Saved } from './answers.ts';
import { change, RefusedRequest } from './data.ts';
import { Scrolling } from './parts.tsx';
import { addressOfRecord, goTo } from './route.ts';
import { Saving, saveByKey, usePreview } from './saving.tsx';

/** Edits the text of a record, with a preview; if it was changed meanwhile, shows both texts. */
export function EditForm({ path, text: given }: { path: string; text: string }) {
  // The text that the person began with: an event may bring another one while they type.
  const [before, setBefore] = useState(given);
  const [text, setText] = useState(given);
  const [reason, setReason] = useState('');
  const [theirs, setTheirs] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const preview = usePreview(path, { text });
  const save = async (event: Event) => {
    event.preventDefault();
    setProblem('');
    try {
      const body = { path, before, text, ...(reason.trim() !== '' && { reason }) };
      const answer = await change<Saved>('/memory/record', body);
      if (answer.saved) return goTo(addressOfRecord(path));
      setTheirs(answer.text);
      // The next save replaces the text that the person sees now, and no later one.
      setBefore(answer.text);
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <form class="edit" onSubmit={save} onKeyDown={saveByKey}>
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
      <label>
        Text
        <textarea
          rows={18}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
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
