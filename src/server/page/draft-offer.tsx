import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Draft, type DraftPlace, Drafts, type Typed } from './drafts.ts';
import { Scrolling, Time } from './parts.tsx';
import { addressTo } from './route.ts';

/** The project whose memory the window shows, by its id; empty until the server has named it. */
export const Project = createContext('');

/** Shows a form as soon as its drafts have a project that they belong to. */
export function WithDrafts({ children }: { children: ComponentChildren }) {
  return useContext(Project) === '' ? <p class="faint loading">Loading …</p> : children;
}

const drafts = new Drafts(() => localStorage, warnBeforeUnload);

/** Lets the browser ask before it leaves the page, as long as this would lose a draft. */
function warnBeforeUnload(isNear: boolean): void {
  if (isNear) addEventListener('beforeunload', askBeforeUnload);
  else removeEventListener('beforeunload', askBeforeUnload);
}

function askBeforeUnload(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** The forms that edit a record, with their addresses. */
const forms = {
  fields: { label: 'its fields', query: { show: 'edit' } },
  text: { label: 'its text', query: { show: 'edit', as: 'text' } },
} as const;

export type EditForms = keyof typeof forms;

/** The draft of a form that is open, and the earlier ones of the same form. */
export interface FormDraft {
  /** The newest earlier draft; undefined if there is none. */
  readonly offered: Draft | undefined;
  /** Makes an earlier draft the one of this form. */
  take(draft: Draft): void;
  discard(draft: Draft): void;
  /** Returns a function that removes the draft, unless the person has typed more meanwhile. */
  sent(): () => void;
}

/**
 * Keeps the texts that a person types into a form until they are saved, also when they leave the page.
 *
 * @param typed undefined as long as the form shows what the record has.
 */
export function useDraft(form: string, path: string, typed: Typed | undefined): FormDraft {
  const project = useContext(Project);
  const place: DraftPlace = { project, form, path };
  const [id, setId] = useState(newId);
  const [earlier, setEarlier] = useState<readonly Draft[]>([]);
  const now = typed && JSON.stringify(typed);
  const last = useRef(now);
  last.current = now;
  useEffect(() => setEarlier(drafts.of(place)), [project]);
  // Before the browser does anything else: the next event may lead away from the page.
  useLayoutEffect(() => {
    if (typed) drafts.keep(place, id, typed);
    else drafts.drop(place, id);
  }, [project, id, now]);
  return {
    offered: earlier.find((draft) => draft.id !== id),
    take(draft) {
      // A text that is typed already stays a draft.
      setEarlier(drafts.of(place));
      setId(draft.id);
    },
    discard(draft) {
      drafts.drop(place, draft.id);
      setEarlier(drafts.of(place));
    },
    sent: () => () => {
      if (last.current === now) drafts.drop(place, id);
    },
  };
}

function newId(): string {
  return crypto.getRandomValues(new Uint32Array(2)).join('-');
}

/** Offers an earlier draft of a form; nothing if there is none. */
export function DraftOffer({
  draft: { offered, discard },
  of = 'this record',
  hasChanged,
  onTake,
}: {
  draft: FormDraft;
  of?: string;
  /** Whether what the draft replaces is not what it was. */
  hasChanged: (draft: Draft) => boolean;
  onTake: (draft: Draft) => void;
}) {
  if (!offered) return null;
  return (
    <section class="draft" aria-label="Draft">
      <p role="status">
        You have a draft of {of} that is not saved, from <Time at={offered.at} />.
        {hasChanged(offered) && <strong> The value has changed since you began it.</strong>}
      </p>
      <p class="row">
        <button type="button" onClick={() => onTake(offered)}>
          Continue the draft
        </button>
        <button type="button" onClick={() => discard(offered)}>
          Discard the draft
        </button>
      </p>
    </section>
  );
}

/** Names the drafts of a record where its forms are not open; nothing if there are none. */
export function RecordDrafts({
  path,
  of,
  isGone = false,
}: {
  path: string;
  of: readonly EditForms[];
  /** Whether the record was removed: its form cannot open, so the text of the draft is shown. */
  isGone?: boolean;
}) {
  const project = useContext(Project);
  const [, setTurn] = useState(0);
  if (project === '') return null;
  const all = of.flatMap((form) =>
    drafts.of({ project, form, path }).map((draft) => ({ form, draft })),
  );
  return (
    <>
      {all.map(({ form, draft }) => (
        <section key={draft.id} class="draft" aria-label="Draft">
          <p>
            You have a draft of {forms[form].label} that is not saved, from <Time at={draft.at} />.
          </p>
          {isGone &&
            Object.entries(draft.texts).map(([name, text]) => (
              <Scrolling key={name} label={`Draft of ${name}`}>
                <pre class="source">{text}</pre>
              </Scrolling>
            ))}
          <p class="row">
            {!isGone && <a href={addressTo('record', path, forms[form].query)}>Continue it</a>}
            <button
              type="button"
              onClick={() => {
                drafts.drop({ project, form, path }, draft.id);
                setTurn((old) => old + 1);
              }}
            >
              Discard the draft
            </button>
          </p>
        </section>
      ))}
    </>
  );
}
