import { useEffect, useRef, useState } from 'preact/hooks';
import { addressTo, currentRoute, goTo, type Route } from './route.ts';

/** The pause in typing after which a search begins, in milliseconds. */
const pause = 80;

/** The field of every page that searches while the person types; the key `/` leads to it. */
export function SearchField({ route: { name, query } }: { route: Route }) {
  const asked = name === 'search' ? (query.get('q') ?? '') : '';
  const [words, setWords] = useState(asked);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    // A link or a step in the history has another search, or none.
    if (document.activeElement !== field.current) setWords(asked);
  }, [asked]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      const isTyping = target instanceof Element && target.closest('input, textarea, select');
      if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
      clearTimeout(timer.current);
    };
  }, []);
  const show = (wanted: string) => {
    clearTimeout(timer.current);
    // Filters stay while the words change, also those that were chosen in the pause.
    const { name, query } = currentRoute();
    const isShown = name === 'search';
    const others = isShown ? Object.fromEntries(query) : {};
    goTo(addressTo('search', '', { ...others, q: wanted }), isShown);
  };
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          show(words);
        }}
      >
        <input
          ref={field}
          type="search"
          aria-label="Search the memory"
          aria-keyshortcuts="/"
          placeholder="Search ( / )"
          value={words}
          onInput={({ currentTarget: { value } }) => {
            setWords(value);
            clearTimeout(timer.current);
            const from = location.href;
            timer.current = setTimeout(() => {
              // A person who has followed a link meanwhile stays there.
              if (location.href === from || currentRoute().name === 'search') show(value);
            }, pause);
          }}
        />
      </form>
    </search>
  );
}
