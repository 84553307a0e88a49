import type { InputHTMLAttributes } from 'preact';

/** The height of a text in a browser that does not fit it to its text, in lines. */
const maxRows = 40;

/** A field for a text of several lines, which is as high as its text. */
export function GrowingText({
  value,
  least,
  onText,
  ...others
}: Pick<InputHTMLAttributes<HTMLTextAreaElement>, 'id' | 'class' | 'spellcheck' | 'aria-label'> & {
  value: string;
  /** The smallest height, in lines. */
  least: number;
  onText: (text: string) => void;
}) {
  const lines = value.split('\n').length;
  return (
    <textarea
      {...others}
      style={{ minHeight: `${least}lh` }}
      rows={Math.min(maxRows, Math.max(least, lines))}
      value={value}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  );
}
