import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { change } from './data.ts';
import type { FormDraft } from './draft-offer.tsx';
import type { Preview, Saved } from './edit-answers.ts';
import { Fields, Markdown } from './parts.tsx';
import { RefusedRequest } from './refused-request.ts';
import { addressOfRecord, goTo } from './route.ts';

/** The name of the reason among the texts of a draft, which is not that of a field. */
export const reasonField = 'why it is changed';

/** The pause in typing after which the preview is made, in milliseconds. */
const pause = 300;

/** Returns the record that a new content would be; the last one while another is on its way. */
export function usePreview(path: string, content: object | undefined): Preview | undefined {
  const [preview, setPreview] = useState<Preview | undefined>(undefined);
  const body = content && JSON.stringify({ path, ...content });
  useEffect(() => {
    if (body === undefined) return;
    let isOld = false;
    const timer = setTimeout(() => {
      change<Preview>('/memory/preview', JSON.parse(body))
        .catch((error: unknown): Preview | undefined => {
          if (!(error instanceof RefusedRequest)) throw error;
          // Without an answer nothing is known against the content, and it can be saved later.
          return error.status === 0 ? undefined : { fields: {}, problem: error.message };
        })
        .then((made) => !isOld && setPreview(made));
    }, pause);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [body]);
  return preview;
}

/** Saves a change of a record and shows the record; returns its state if it was changed meanwhile. */
export async function saveRecord(
  content: { readonly path: string; readonly [field: string]: unknown },
  reason: string,
  draft: FormDraft,
  onProblem: (problem: string) => void,
): Promise<Saved | undefined> {
  onProblem('');
  const isSaved = draft.sent();
  try {
    const body = { ...content, ...(reason.trim() !== '' && { reason }) };
    const answer = await change<Saved>('/memory/record', body);
    if (!answer.saved) return answer;
    isSaved();
    goTo(addressOfRecord(content.path));
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    onProblem(error.message);
  }
  return undefined;
}

/** Saves the form with Ctrl+Enter or Cmd+Enter, also from a field in which Enter begins a line. */
export function saveByKey(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  // A button that is disabled ignores the click.
  event.currentTarget.querySelector<HTMLButtonElement>('button[type=submit]')?.click();
}

/** The end of a form that saves a record: the reason, the buttons, the problem and the preview. */
export function Saving({
  path,
  reason,
  onReason,
  label,
  isReady,
  problem,
  preview,
  children,
}: {
  path: string;
  reason: string;
  onReason: (reason: string) => void;
  /** The text of the button. */
  label: string;
  /** Whether there is something to save that is a record. */
  isReady: boolean;
  problem: string;
  preview: Preview | undefined;
  /** Other ways to edit. */
  children?: ComponentChildren;
}) {
  return (
    <>
      <label>
        Why you change it (goes into the commit)
        <input value={reason} onInput={({ currentTarget }) => onReason(currentTarget.value)} />
      </label>
      <p class="row">
        <button type="submit" class="main" disabled={!isReady}>
          {label}
        </button>
        {children}
        <a href={addressOfRecord(path)}>Cancel</a>
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      {preview && preview.problem === undefined && (
        <section aria-label="Preview">
          <h2>Preview</h2>
          {preview.html !== undefined && <Markdown html={preview.html} path={path} />}
          <Fields fields={preview.fields} />
        </section>
      )}
    </>
  );
}
