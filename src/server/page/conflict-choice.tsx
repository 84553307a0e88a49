import type { ComponentChildren } from 'preact';
import { Scrolling } from './parts.tsx';

/** One of the two versions of a record in conflict. */
export interface ConflictSide<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly text: string | undefined;
}

/** Both versions of a record in conflict, and the choice between them; the children are a third way. */
export function ConflictChoice<Name extends string>({
  path,
  group = path,
  sides,
  chosen,
  onChoose,
  children,
}: {
  path: string;
  /** The name of the radio buttons: a record can be in conflict for two reviews. */
  group?: string;
  sides: readonly ConflictSide<Name>[];
  chosen: string | undefined;
  onChoose: (name: Name) => void;
  children?: ComponentChildren;
}) {
  return (
    <fieldset class="conflict">
      <legend>{path}</legend>
      <div class="columns">
        {sides.map(({ name, label, text }) => (
          <section key={name}>
            <label>
              <input
                type="radio"
                name={group}
                checked={chosen === name}
                onChange={() => onChoose(name)}
              />{' '}
              {label}
            </label>
            <Version text={text} label={`${label}: ${path}`} />
          </section>
        ))}
      </div>
      {children}
    </fieldset>
  );
}

function Version({ text, label }: { text: string | undefined; label: string }) {
  if (text === undefined) return <p class="faint">Deleted, or not a text that can be shown.</p>;
  return (
    <Scrolling label={label}>
      <pre class="source">{text}</pre>
    </Scrolling>
  );
}
