import { useEffect, useState } from 'preact/hooks';
import type { Preview, Saved } from './answers.ts';
import { change, RefusedRequest } from './data.ts';
import { Fields, Markdown, Scrolling } from './parts.tsx';
import { addressOfRecord, goTo } from './route.ts';

/** The pause in typing after which the preview is made, in milliseconds. */
const pause = 300;

/** Edits the text of a record, with a preview; if it was changed meanwhile, shows both texts. */
export function EditForm({ path, text: given }: { path: string; text: string }) {
  // The text that the person began with: an event may bring another one while they type.
  const [before, setBefore] = useState(given);
  const [text, setText] = useState(given);
  const [reason, setReason] = useState('');
  const [theirs, setTheirs] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [preview, setPreview] = useState<Preview | undefined>(undefined);
  const report = (error: unknown) => {
    if (!(error instanceof RefusedRequest)) throw error;
    setProblem(error.message);
  };
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(() => {
      change<Preview>('/memory/preview', { path, text })
        .then((made) => !isOld && setPreview(made))
        .catch(report);
    }, pause);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [path, text]);
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
      report(error);
    }
  };
  return (
    <form class="edit" onSubmit={save}>
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
      <label>
        Reason (goes into the commit)
        <input value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      <p class="row">
        <button
          type="submit"
          class="main"
          disabled={text === before || preview?.problem !== undefined}
        >
          {theirs === undefined ? 'Save as a commit' : 'Save my text over it'}
        </button>
        <a href={addressOfRecord(path)}>Cancel</a>
      </p>
      <p class="problem" role="alert">
        {preview?.problem ?? problem}
      </p>
      {preview && preview.problem === undefined && (
        <section aria-label="Preview">
          <h2>Preview</h2>
          {preview.html !== undefined && <Markdown html={preview.html} path={path} />}
          <Fields fields={preview.fields} />
        </section>
      )}
    </form>
  );
}
