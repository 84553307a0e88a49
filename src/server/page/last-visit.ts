import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { Project } from './draft-offer.tsx';
import { isCopy } from './route.ts';

/** The pause after which a person who opens the page begins another visit, in milliseconds. */
const pauseMs = 30 * 60_000;

/** The visits of one project, as the browser keeps them. */
interface Visit {
  /** The last commit that the person saw before this visit. */
  readonly seen?: string;
  /** The last commit that the person has seen. */
  readonly last: string;
  /** When that was, by the clock of the browser, which only measures the pause. */
  readonly at: number;
}

/** The commit that a person saw last before this visit. */
export interface LastVisit {
  /** Whether it has been looked up; nothing is known before the first answer. */
  readonly isKnown: boolean;
  readonly seen: string | undefined;
}

/**
 * Remembers in the browser what a person has seen. A page that is open and that nobody uses sees nothing.
 *
 * @param newest the commit that the page shows now; undefined before the first one.
 */
export function useLastVisit(newest: string | undefined): LastVisit {
  const name = `memory-visit ${useContext(Project)}`;
  const [visit, setVisit] = useState<LastVisit>({ isKnown: false, seen: undefined });
  const shown = useRef(newest);
  shown.current = newest;
  useEffect(() => {
    const seen = isCopy ? undefined : seenBefore(read(name));
    setVisit({ isKnown: true, seen });
    const keep = () => {
      const last = shown.current;
      if (last !== undefined)
        write(name, { ...(seen !== undefined && { seen }), last, at: Date.now() });
    };
    keep();
    const events = ['pointerdown', 'keydown'] as const;
    for (const event of events) addEventListener(event, keep);
    return () => {
      for (const event of events) removeEventListener(event, keep);
    };
  }, [name]);
  return visit;
}

function seenBefore(visit: Visit | undefined): string | undefined {
  if (!visit) return undefined;
  const { seen, last, at } = visit;
  return Math.abs(Date.now() - at) > pauseMs ? last : seen;
}

function read(name: string): Visit | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(name) ?? 'null');
    const isVisit = typeof found?.last === 'string' && typeof found.at === 'number';
    return isVisit ? found : undefined;
  } catch {
    return undefined;
  }
}

function write(name: string, visit: Visit): void {
  try {
    localStorage.setItem(name, JSON.stringify(visit));
  } catch {
    // Without a storage, each visit shows the changes of the last days.
  }
}
