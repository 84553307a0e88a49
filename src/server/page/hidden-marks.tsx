import { type ComponentChildren, Fragment, options, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { codePointOf, markHidden, splitHidden } from '../../core/values/hidden-characters.ts';

/** Attributes with a text for people. */
const texts = ['title', 'aria-label', 'placeholder', 'label', 'alt', 'data-label'] as const;

/** Elements that have text only, or shapes. */
const plainElements: ReadonlySet<unknown> = new Set(['option', 'title', 'text', 'tspan']);

/** The attributes of an element, and its children. */
type Attributes = Record<string, unknown> & { children?: ComponentChildren };

/** Letters that are written from right to left. */
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Draws every hidden character of every text as a mark, whichever component the text is in.
 *
 * A text with letters from right to left is isolated, so that it does not reorder what is next to it.
 */
export function drawHiddenCharacters(): void {
  const next = options.vnode;
  options.vnode = (vnode) => {
    if (typeof vnode.type === 'string' || vnode.type === Fragment) draw(vnode);
    next?.(vnode);
  };
}

function draw({ type, props }: VNode<Attributes>): void {
  for (const name of texts) {
    const text = props[name];
    if (typeof text === 'string') props[name] = markedText(text);
  }
  if (!plainElements.has(type)) {
    props.children = marked(props.children, type !== 'bdi');
    return;
  }
  const { children } = props;
  const text = Array.isArray(children) ? children.join('') : children;
  const count = typeof text === 'string' ? countHidden(text) : 0;
  if (typeof text !== 'string' || count === 0) return;
  // The value of an option is its text, unless it has one.
  if (type === 'option') props.value ??= text;
  props.children = markedText(text);
  if (type !== 'title') props['data-hidden'] = count;
}

/** Returns the children of an element with marks in their texts. */
function marked(children: ComponentChildren, isolates: boolean): ComponentChildren {
  if (Array.isArray(children)) {
    const next = children.map((child) => marked(child, isolates));
    return next.some((child, i) => child !== children[i]) ? next : children;
  }
  if (typeof children !== 'string') return children;
  if (isolates && rightToLeft.test(children)) return <bdi>{children}</bdi>;
  const pieces = splitHidden(children);
  if (pieces.length === 1) return children;
  return pieces.map((piece, i) =>
    i % 2 === 0 ? (
      piece
    ) : (
      <span key={i} class="code-point" data-hidden="1" title="hidden character">
        {codePointOf(piece)}
      </span>
    ),
  );
}

/** Returns a text with marks, for a place that has text only. */
export function markedText(text: string): string {
  return markHidden(text, (character) => `[${codePointOf(character)}]`);
}

/** Returns the number of hidden characters in a text. */
export function countHidden(text: string): number {
  return (splitHidden(text).length - 1) / 2;
}

/** Warns of the hidden characters of the page, with their number. */
export function HiddenWarning() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const look = () => setCount(countDrawn());
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    addEventListener('input', look);
    look();
    return () => {
      observer.disconnect();
      removeEventListener('input', look);
    };
  }, []);
  if (count === 0) return null;
  return (
    <p class="banner warning" role="alert">
      <strong>
        {count} hidden {count === 1 ? 'character' : 'characters'}
      </strong>{' '}
      on this page. A program reads them and a person does not see them, so they can hide an
      instruction or make a text look like another one. Here each is a mark with its number, such as{' '}
      <span class="code-point">U+200B</span>, except in a field that you edit.
    </p>
  );
}

function countDrawn(): number {
  let count = 0;
  for (const drawn of document.querySelectorAll('[data-hidden]')) {
    count += Number(drawn.getAttribute('data-hidden'));
  }
  for (const field of document.querySelectorAll('input, textarea')) {
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      count += countHidden(field.value);
    }
  }
  return count;
}
