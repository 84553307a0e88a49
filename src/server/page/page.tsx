import { type ComponentType, render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { BranchesPage } from './branches-page.tsx';
import { watchChanges } from './changes.ts';
import { ConflictsPage } from './conflicts-page.tsx';
import { type Answered, useAnswer } from './data.ts';
import { Project } from './draft-offer.tsx';
import { FailureBoundary, LateFailure } from './failure.tsx';
import { GraphPage } from './graph-page.tsx';
import { drawHiddenCharacters, HiddenWarning } from './hidden-marks.tsx';
import { HomePage } from './home-page.tsx';
import { ListPage } from './list-page.tsx';
import { ModesPage } from './modes-page.tsx';
import { arrive, followPlaces } from './page-place.ts';
import { takeSecret } from './page-session.ts';
import { ProjectName, useTitle } from './page-title.ts';
import { localTime } from './parts.tsx';
import { RecordPage } from './record-page.tsx';
import { addressTo, currentRoute, followLink, goTo, isCopy, onRoute, type Route } from './route.ts';
import { SearchField } from './search-field.tsx';
import { SearchPage } from './search-page.tsx';
import { isSignInReturn, SignIn, SignInReturn, takeIssuerAnswer } from './sign-in.tsx';
import { TasksPage } from './tasks-page.tsx';
import { TimelinePage } from './timeline-page.tsx';
import { UserPage } from './user-page.tsx';
import type { WindowData } from './window-answers.ts';

const pages: ReadonlyMap<string, ComponentType<{ route: Route }>> = new Map([
  ['', HomePage],
  ['records', ListPage],
  ['record', RecordPage],
  ['timeline', TimelinePage],
  ['search', SearchPage],
  ['branches', BranchesPage],
  ['conflicts', ConflictsPage],
  ['modes', ModesPage],
  ['tasks', TasksPage],
  ['graph', GraphPage],
  ['user', UserPage],
]);

/** The pages that have no past state. */
const ofPresent: ReadonlySet<string> = new Set(['branches', 'conflicts', 'user']);

const entries = [
  ['', 'Home'],
  ['timeline', 'Timeline'],
  ['branches', 'Branches'],
  ['graph', 'Graph'],
  ['tasks', 'Tasks'],
  ['records', 'Records'],
  ['modes', 'Modes'],
  ['search', 'Search'],
] as const;

/** The page of the address, below the navigation. */
function Shell() {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => onRoute(() => setRoute(currentRoute())), []);
  const { name, rest, at } = route;
  const shown = useAnswer<WindowData>('/memory/window', { at });
  const project = shown.data?.project;
  const id = useRef('');
  id.current = shown.data?.id ?? project ?? id.current;
  // Without a first page, there are forms all the same.
  if (id.current === '' && shown.error) id.current = location.host;
  const Page = pages.get(name);
  const isPresentOnly = at !== undefined && ofPresent.has(name);
  // At once: an effect that runs later could take the next move for the one to this page.
  useLayoutEffect(() => arrive(route.section), [route]);
  const isOpen = shown.data !== undefined;
  useEffect(() => (isOpen ? watchChanges(shown.data?.head) : undefined), [isOpen]);
  if (shown.error?.status === 401) return <SignIn onDone={shown.reload} />;
  return (
    <ProjectName.Provider value={project ?? ''}>
      {name !== 'record' && <PageTitle route={route} />}
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <a class="project" href={addressTo('', '')}>
          {project ?? 'Memory'}
        </a>
        <nav aria-label="Pages">
          {entries.map(([target, label]) => (
            <a
              key={target}
              href={addressTo(target)}
              aria-current={target === name ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
        <SearchField route={route} />
        {isCopy ? <CopyState /> : <StateForm at={at} shown={shown} />}
      </header>
      {at !== undefined && (
        <PastState at={at} shown={shown} present={addressTo(name, rest, { at: undefined })} />
      )}
      <HiddenWarning />
      <LateFailure />
      <main id="main" tabIndex={-1}>
        {isPresentOnly && <p class="faint">This page is about the present only.</p>}
        <FailureBoundary of={location.href} way={<a href={addressTo('')}>Show Home</a>}>
          <Project.Provider value={id.current}>
            {Page ? (
              <Page key={`${name} ${rest}`} route={route} />
            ) : (
              <h1>This page does not exist.</h1>
            )}
          </Project.Provider>
        </FailureBoundary>
      </main>
    </ProjectName.Provider>
  );
}

/** Sets the title of a page, by which a person tells tabs and the steps of the history apart. */
function PageTitle({ route: { name, rest, query, at } }: { route: Route }) {
  const label = entries.find(([target]) => target === name)?.[1] ?? 'Memory';
  const subject =
    rest ||
    ['q', 'of', 'type', 'toolset', 'path', 'agent'].map((key) => query.get(key)).find(Boolean);
  useTitle(subject, name === 'conflicts' ? 'Conflicts' : label, at && `as of ${at}`);
  return null;
}

/** Names the past state that the pages show, once the server has found it. */
function PastState({
  at,
  shown: { data, error, waiting },
  present,
}: {
  at: string;
  shown: Answered<WindowData>;
  present: string;
}) {
  /** The last state that the server has found. */
  const found = useRef('');
  if (data && !waiting) found.current = at;
  const way = <a href={present}>Show the present</a>;
  if (error?.status === 404) {
    return (
      <p class="past" role="status">
        There is no state <strong>{at}</strong>: no branch, commit or tag has this name, and it is
        not a time. {way}
      </p>
    );
  }
  return (
    <p class="past" role="status">
      {found.current === at ? 'You see' : 'Looking for'} the {isCopy ? 'record' : 'memory'} as of{' '}
      <strong>{at}</strong>
      {found.current === at && data?.commit && `, ${localTime(data.commit.at)}`}. {way}
    </p>
  );
}

/** The state that a copy has, also on the page of a past one. */
function CopyState() {
  const { branch, commit } = useAnswer<WindowData>('/memory/window').data ?? {};
  const state = commit ? `${commit.oid.slice(0, 12)}, ${localTime(commit.at)}` : '';
  return (
    <span class="faint">
      Copy of {branch ?? 'the memory'} {state}
    </span>
  );
}

/** Chooses the state of the memory that all pages show. */
function StateForm({ at, shown }: { at: string | undefined; shown: Answered<WindowData> }) {
  const [text, setText] = useState(at ?? '');
  useEffect(() => setText(at ?? ''), [at]);
  const { name, rest } = currentRoute();
  return (
    <form
      class="state"
      onSubmit={(event) => {
        event.preventDefault();
        goTo(addressTo(name, rest, { at: text.trim() }));
      }}
    >
      <label>
        State{' '}
        <input
          aria-label="State: a branch, commit, tag, date or time"
          placeholder={shown.data?.branch ?? 'now'}
          title="A branch, commit, tag, 2026-01-31 or 2 days ago"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

const root = document.getElementById('page');
drawHiddenCharacters();
if (root) {
  if (!isCopy) takeSecret();
  const content = isSignInReturn() ? <SignInReturn answer={takeIssuerAnswer()} /> : <Shell />;
  followPlaces();
  addEventListener('click', followLink);
  const reload = (
    <button type="button" onClick={() => location.reload()}>
      Load the window again
    </button>
  );
  render(
    <FailureBoundary of="" way={reload}>
      {content}
    </FailureBoundary>,
    root,
  );
}
