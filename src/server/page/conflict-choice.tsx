import type { ComponentChildren } from 'preact';
import { GrowingText } from './growing-text.tsx';
import { Scrolling } from './parts.tsx';
import { isCopy } from './route.ts';

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
  base,
  sides,
  chosen,
  onChoose,
  children,
}: {
  path: string;
  /** The name of the radio buttons: a record can be in conflict for two reviews. */
  group?: string;
  /** The text before the changes of both sides, where it is known. */
  base?: string | undefined;
  sides: readonly ConflictSide<Name>[];
  chosen: string | undefined;
  onChoose: (name: Name) => void;
  children?: ComponentChildren;
}) {
  return (
    <fieldset class="conflict">
      <legend>{path}</legend>
      {base !== undefined && (
        <section>
          Before
          <Version text={base} label={`Before: ${path}`} />
        </section>
      )}
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

/** A text that is neither of the two versions, such as one made of both. */
export function OwnText({
  path,
  group = path,
  isChosen,
  text,
  onText,
  children,
}: {
  path: string;
  group?: string;
  isChosen: boolean;
  text: string;
  onText: (text: string) => void;
  children?: ComponentChildren;
}) {
  return (
    <section hidden={isCopy}>
      {children}
      <label>
        <input type="radio" name={group} checked={isChosen} onChange={() => onText(text)} /> A text
        of my own
      </label>
      {isChosen && (
        <GrowingText
          class="source"
          least={12}
          spellcheck={false}
          aria-label={`My own text: ${path}`}
          value={text}
          onText={onText}
        />
      )}
    </section>
  );
}
