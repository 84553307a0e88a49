import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { matchPattern } from '../../core/values/match-pattern.ts';

/** The name of the marks in the style sheet. */
const mark = 'found';

/**
 * Marks words in an element without a change of its content; a browser that cannot do so shows none.
 *
 * @param words separated by spaces.
 * @param content changes with the content of the element.
 */
export function useFoundWords(
  element: RefObject<HTMLElement | null>,
  words: string,
  content: string,
): void {
  useLayoutEffect(() => {
    const marks: HighlightRegistry | undefined = CSS.highlights;
    const pattern = matchPattern(words.split(' ').filter(Boolean));
    if (!marks || !pattern || !element.current) return;
    marks.set(mark, new Highlight(...rangesOf(element.current, pattern)));
    return () => void marks.delete(mark);
  }, [words, content]);
}

function rangesOf(element: Element, pattern: RegExp): Range[] {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    let end = 0;
    for (const [at, piece] of (node.nodeValue ?? '').split(pattern).entries()) {
      const start = end;
      end += piece.length;
      // The pattern captures the word between two pieces.
      if (at % 2 === 0) continue;
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}
