/** The place of a person on a page: how far it is scrolled, and the link that they followed from it. */
interface Place {
  readonly scrolled: number;
  readonly link?: FollowedLink | undefined;
}

/** A link by its address, and its number among the links with this address. */
interface FollowedLink {
  readonly href: string;
  readonly number: number;
}

/** The way to the page that is shown: by loading the window, to a new page, or to one of the history. */
type Move = 'load' | 'new' | 'known' | 'none';

/** The name of the places in the storage of the tab, so that a reload does not lose them. */
const storeKey = 'memory-bank places';
const maxPlaces = 100;
/** The pause between two looks at a page, in milliseconds. */
const pause = 50;
/** The longest wait for what a page shows after its content, in milliseconds. */
const maxWaitMs = 1_000;
/** The beginning of the ids of headings. */
const ofSection = 'section-';

const places = new Map<string, Place>();
/** The key of the page in the history. */
let key = '';
let move: Move = 'none';
let isReplaced = false;
let isFollowed = false;
/** The place to go to; undefined once the person is there, or does something else. */
let goal: Place | undefined;
/** Ends the wait for the content of the page before. */
let waiting = new AbortController();

/** Follows the places of the pages of this tab; the browser would scroll before their content is there. */
export function followPlaces(): void {
  readStored();
  history.scrollRestoration = 'manual';
  enter();
  move = goal ? 'known' : 'load';
  // A page that becomes shorter also scrolls, before its content is there.
  addEventListener('scroll', () => goal || remember(), { passive: true });
  addEventListener('pagehide', store);
  for (const event of ['wheel', 'touchstart', 'pointerdown', 'keydown']) {
    addEventListener(event, stopWaiting, { passive: true });
  }
}

/** Notes that a new page follows, and the link that leads to it. */
export function leave(link?: Element): void {
  remember(link && linkOf(link));
  isReplaced = false;
  isFollowed = link !== undefined;
}

/** Notes that the page shows something else and stays the same in the history. */
export function stay(): void {
  isReplaced = true;
}

/** Notes that the address has changed: by a step in the history, or after `leave` or `stay`. */
export function enter(): void {
  const known: unknown = history.state?.key;
  if (known === key) return;
  if (typeof known === 'string') {
    key = known;
    goal = places.get(key);
    move = 'known';
    return;
  }
  key = crypto.getRandomValues(new Uint32Array(2)).join('-');
  history.replaceState({ key }, '');
  if (isReplaced) {
    remember();
    return;
  }
  goal = undefined;
  move = 'new';
  if (isFollowed) scrollTo(0, 0);
  isFollowed = false;
}

/**
 * Brings the person to the place on the page that is now shown: where they were, the section, or the
 * heading, which a screen reader then says.
 *
 * @param section the anchor of the section; empty for none.
 */
export function arrive(section: string): void {
  const way = move;
  move = 'none';
  isReplaced = false;
  if (way === 'none') return;
  waiting.abort();
  if (goal) restore(goal);
  else if (section !== '') goToSection(section);
  else if (way === 'known') restore({ scrolled: 0 });
  else if (way === 'new') whenShown(focusHeading);
}

/**
 * Runs a step when the page has its content, and again until it returns true or the person does
 * something.
 *
 * @param step its argument is true when nothing more is to be waited for.
 */
function whenShown(step: (isLast: boolean) => boolean): void {
  waiting = new AbortController();
  const { signal } = waiting;
  let end: number | undefined;
  const look = () => {
    if (signal.aborted) return;
    if (!document.querySelector('.loading, main [aria-busy=true]')) {
      end ??= performance.now() + maxWaitMs;
      if (step(performance.now() > end)) return;
    }
    setTimeout(look, pause);
  };
  look();
}

function stopWaiting(): void {
  waiting.abort();
  goal = undefined;
}

function restore({ scrolled, link }: Place): void {
  whenShown((isLast) => {
    const isTall = document.documentElement.scrollHeight >= scrolled + innerHeight;
    const found = link && findLink(link);
    if (!isLast && (!isTall || (link && !found))) return false;
    goal = undefined;
    scrollTo(0, scrolled);
    if (found) found.focus({ preventScroll: true });
    else focusHeading();
    return true;
  });
}

function goToSection(anchor: string): void {
  whenShown((isLast) => {
    const heading = findSection(anchor);
    if (!heading) return isLast && focusHeading();
    heading.scrollIntoView();
    focusOn(heading);
    return true;
  });
}

/** Finds the heading with an anchor; a link may lack the date at the end of a decision's title. */
export function findSection(anchor: string): HTMLElement | undefined {
  const headings = [...document.querySelectorAll<HTMLElement>(`[id^=${ofSection}]`)];
  const wanted = ofSection + anchor;
  const dated = (id: string) => id.startsWith(wanted) && date.test(id.slice(wanted.length));
  return headings.find(({ id }) => id === wanted) ?? headings.find(({ id }) => dated(id));
}

const date = /^-+\d{4}-\d\d-\d\d(?:-\d+)?$/;

/** Returns the anchor of a heading in a record. */
export function anchorOf(heading: Element): string {
  return heading.id.slice(ofSection.length);
}

/** Gives the focus to the heading of a page, unless the page or the field of the search has the focus. */
function focusHeading(): true {
  const main = document.querySelector('main');
  const heading = main?.querySelector('h1');
  const { activeElement } = document;
  const isTyping = activeElement?.matches('header [type=search]');
  if (heading && !isTyping && !main?.contains(activeElement)) focusOn(heading);
  return true;
}

function focusOn(heading: HTMLElement): void {
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** @param link the link that is followed; by default, the last one. */
function remember(link = places.get(key)?.link): void {
  places.delete(key);
  places.set(key, { scrolled: scrollY, link });
  const [oldest] = places.keys();
  if (places.size > maxPlaces && oldest !== undefined) places.delete(oldest);
}

function linkOf(link: Element): FollowedLink {
  const href = link.getAttribute('href') ?? '';
  return { href, number: linksTo(href).indexOf(link) };
}

function findLink({ href, number }: FollowedLink): HTMLElement | SVGElement | undefined {
  const found = linksTo(href)[number];
  return found instanceof HTMLElement || found instanceof SVGElement ? found : undefined;
}

function linksTo(href: string): Element[] {
  return [...document.querySelectorAll('a')].filter((link) => link.getAttribute('href') === href);
}

function readStored(): void {
  try {
    const rows: unknown = JSON.parse(sessionStorage.getItem(storeKey) ?? '[]');
    for (const row of Array.isArray(rows) ? rows : []) {
      const [key, scrolled, href, number] = row;
      const hasLink = typeof href === 'string' && typeof number === 'number';
      places.set(String(key), {
        scrolled: Number(scrolled),
        link: hasLink ? { href, number } : undefined,
      });
    }
  } catch {
    // Without a storage, or with another content of it, a page begins at its top.
  }
}

function store(): void {
  const rows = [...places].map(([key, { scrolled, link }]) => [
    key,
    scrolled,
    link?.href,
    link?.number,
  ]);
  try {
    sessionStorage.setItem(storeKey, JSON.stringify(rows));
  } catch {
    // A page without storage forgets its places when it is loaded again.
  }
}
