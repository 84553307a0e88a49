import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from './data.ts';
import { DraftOffer, useDraft } from './draft-offer.tsx';
import type { Draft, Texts } from './drafts.ts';
import type { Control, RecordForm, Saved } from './edit-answers.ts';
import { GrowingText } from './growing-text.tsx';
import { valueText, Waiting } from './parts.tsx';
import { addressTo, goTo } from './route.ts';
import { reasonField, Saving, saveByKey, saveRecord, usePreview } from './saving.tsx';

/** Edits the fields of a record; where it has one text only, or none, leads to the text. */
export function FieldsPage({ path }: { path: string }) {
  const answer = useAnswer<RecordForm>(`/memory/form/${path}`);
  // The form that the person began with: an event may bring another one while they type.
  const [begun, setBegun] = useState<RecordForm | undefined>(undefined);
  const { data } = answer;
  useEffect(() => {
    if (!data || begun) return;
    if (data.controls.length > 1) setBegun(data);
    else goTo(addressTo('record', path, { show: 'edit', as: 'text' }), true);
  }, [data]);
  return (
    <Waiting answer={answer}>{() => begun && <FieldsForm path={path} form={begun} />}</Waiting>
  );
}

function FieldsForm({ path, form }: { path: string; form: RecordForm }) {
  const { controls } = form;
  const [before, setBefore] = useState(form.text);
  /** The values of fields as they were when a draft began, which may be older than the form. */
  const [began, setBegan] = useState<Texts>({});
  const [inputs, setInputs] = useState<Texts>({});
  const [reason, setReason] = useState('');
  const [theirs, setTheirs] = useState<Saved['fields']>(undefined);
  const [problem, setProblem] = useState('');
  /** The changed fields; undefined while one is not JSON. */
  const changed = () => {
    const all = controls.filter(({ name }) => inputs[name] !== undefined);
    try {
      return Object.fromEntries(all.map((one) => [one.name, parsed(one, inputs[one.name] ?? '')]));
    } catch {
      return undefined;
    }
  };
  const fields = changed();
  const preview = usePreview(path, fields && { before, fields });
  const draft = useDraft('fields', path, typedOf(controls, { inputs, began, reason }));
  const hasChanged = (earlier: Draft) =>
    controls.some(({ name, ...control }) => {
      const then = earlier.began[name];
      return then !== undefined && then !== shown({ name, ...control }, control.value);
    });
  const take = (earlier: Draft) => {
    draft.take(earlier);
    const { [reasonField]: why = '', ...texts } = earlier.texts;
    setInputs(texts);
    setReason(why);
    setBegan(earlier.began);
    const now = Object.fromEntries(controls.map(({ name, value }) => [name, value]));
    setTheirs(hasChanged(earlier) ? now : undefined);
  };
  const refusal = fields ? (preview?.problem ?? '') : 'One of the fields is not JSON yet.';
  const save = async (event: Event) => {
    event.preventDefault();
    const now = await saveRecord({ path, before, fields }, reason, draft, setProblem);
    if (!now) return;
    setTheirs(now.fields ?? {});
    // The next save puts the fields of the person into the record as they see it now.
    setBefore(now.text);
  };
  return (
    <form class="edit" onSubmit={save} onKeyDown={saveByKey}>
      <DraftOffer draft={draft} hasChanged={hasChanged} onTake={take} />
      {theirs && <Meanwhile controls={controls} theirs={theirs} inputs={inputs} began={began} />}
      {controls.map((control) => (
        <Field
          key={control.name}
          control={control}
          value={inputs[control.name] ?? shown(control, control.value)}
          onInput={(value) => setInputs({ ...inputs, [control.name]: value })}
        />
      ))}
      <Saving
        path={path}
        reason={reason}
        onReason={setReason}
        label={theirs ? 'Save my fields' : 'Save as a commit'}
        isReady={Object.keys(inputs).length > 0 && refusal === ''}
        problem={refusal || problem}
        preview={fields && preview}
      >
        <a href={addressTo('record', path, { show: 'edit', as: 'text' })}>Edit the text instead</a>
      </Saving>
    </form>
  );
}

/** Returns what a person has typed; undefined as long as the form shows what the record has. */
function typedOf(
  controls: readonly Control[],
  { inputs, began, reason }: { inputs: Texts; began: Texts; reason: string },
) {
  const old = Object.fromEntries(
    controls.map((control) => [control.name, began[control.name] ?? shown(control, control.value)]),
  );
  const changed = Object.entries(inputs).filter(([name, text]) => text !== old[name]);
  if (changed.length === 0 && reason === '') return undefined;
  return {
    texts: { ...Object.fromEntries(changed), [reasonField]: reason },
    began: Object.fromEntries(changed.map(([name]) => [name, old[name] ?? ''])),
  };
}

function Field({
  control: { name, kind, choices = [], required, about },
  value,
  onInput,
}: {
  control: Control;
  value: string;
  onInput: (value: string) => void;
}) {
  const change = ({ currentTarget }: { currentTarget: { value: string } }) =>
    onInput(currentTarget.value);
  const common = { id: `field-${name}`, value, onInput: change };
  return (
    <div class="field">
      <label for={common.id}>
        {name.replaceAll('_', ' ')}
        {kind === 'list' && ', one on each line'}
        {kind === 'json' && ', as JSON'}
        {about !== undefined && <small class="faint"> {about}</small>}
      </label>
      {kind === 'choice' ? (
        <select {...common}>
          {!required && <option value="" />}
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : kind === 'line' ? (
        <input {...common} required={required} />
      ) : kind === 'number' ? (
        <input {...common} type="number" required={required} />
      ) : (
        <GrowingText
          id={common.id}
          value={value}
          least={kind === 'text' ? 8 : 4}
          onText={onInput}
        />
      )}
    </div>
  );
}

/** The fields that someone else has changed meanwhile, next to those of the person. */
function Meanwhile({
  controls,
  theirs,
  inputs,
  began,
}: {
  controls: readonly Control[];
  theirs: NonNullable<Saved['fields']>;
  inputs: Texts;
  began: Texts;
}) {
  const different = controls.filter((control) => {
    const then = began[control.name] ?? shown(control, control.value);
    return shown(control, theirs[control.name]) !== then;
  });
  return (
    <section role="alert">
      <h2>The record was changed while you edited it</h2>
      <p>Your fields are below. Saving them again keeps all other fields as they are now.</p>
      <table class="listed">
        <thead>
          <tr>
            <th scope="col">field</th>
            <th scope="col">now</th>
            <th scope="col">yours</th>
          </tr>
        </thead>
        <tbody>
          {different.map((control) => (
            <tr key={control.name}>
              <th scope="row">{control.name}</th>
              <td class="text">{shown(control, theirs[control.name])}</td>
              <td class="text">{inputs[control.name] ?? 'not changed'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Returns a value as the text of its control. */
function shown({ kind }: Control, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (kind === 'list' && Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : valueText(value);
}

/** Returns the value of the text of a control; null for an empty field. */
function parsed({ kind, choices, required }: Control, text: string): unknown {
  if (kind === 'list') return text.split('\n').filter((line) => line.trim() !== '');
  if (text === '' && !required) return null;
  if (kind === 'number') return Number(text);
  if (kind === 'json') return JSON.parse(text);
  return choices?.[0] === 'true' ? text === 'true' : text;
}
