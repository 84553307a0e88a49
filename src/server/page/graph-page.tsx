import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { GraphData } from './answers.ts';
import { useAnswer } from './data.ts';
import { arrange, groupsOf, type Picture, type Placed } from './graph-layout.ts';
import { GraphList, StepLists } from './graph-list.tsx';
import { GraphPicture, type Place, type Sight } from './graph-picture.tsx';
import { RecordLink, Waiting } from './parts.tsx';
import { addressOfRecord, addressTo, type Route } from './route.ts';

/** Maximum number of records that the search in the picture lists. */
const maxFound = 12;
/** The scale from which the names are easy to read. */
const readable = 0.9;
/** Maximum number of records that are drawn one by one. */
const maxDrawn = 5000;

/** Features with their requirements and paths, objectives with their tasks and tickets, as a picture. */
export function GraphPage({ route: { at, query } }: { route: Route }) {
  const of = query.get('of');
  return of === null ? <WholeGraph at={at} /> : <AroundRecord path={of} at={at} />;
}

function WholeGraph({ at }: { at: string | undefined }) {
  const answer = useAnswer<GraphData>('/memory/graph', { at });
  return (
    <>
      <h1>Graph</h1>
      <Waiting answer={answer}>
        {(graph) =>
          graph.nodes.length === 0 ? (
            <p class="faint">There are no features, objectives, tasks or tickets yet.</p>
          ) : (
            <>
              <Graph graph={graph} />
              <GraphList graph={graph} />
            </>
          )
        }
      </Waiting>
    </>
  );
}

/** A record in the middle of what rests on it and what it rests on, as a picture and as lists. */
function AroundRecord({ path, at }: { path: string; at: string | undefined }) {
  const answer = useAnswer<GraphData>('/memory/around', { path, at });
  return (
    <>
      <h1>What {answer.data?.nodes[0]?.title ?? path} rests on</h1>
      <p class="row">
        <a href={addressOfRecord(path)}>The record</a>
        <a href={addressTo('graph')}>The whole graph</a>
      </p>
      <Waiting answer={answer}>
        {(graph) => (
          <>
            {graph.nodes.length > 1 && <Graph graph={graph} />}
            <StepLists graph={graph} />
          </>
        )}
      </Waiting>
    </>
  );
}

function Graph({ graph }: { graph: GraphData }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState('');
  // Undefined until the person moves the picture: it then shows all.
  const [place, setPlace] = useState<Place | undefined>(undefined);
  const [sight, setSight] = useState<Sight>({ width: 960, height: 560 });
  const groups = useMemo(() => groupsOf(graph), [graph]);
  const picture = useMemo(() => arrange(graph, groups, open), [graph, groups, open]);
  const found = findNodes(graph, words);
  const matches = useMemo(() => new Set(found.map(({ path }) => path)), [graph, words]);
  const now = place ?? beginning(picture, sight);
  const zoom = (factor: number, x = sight.width / 2, y = sight.height / 2) => {
    const scale = Math.min(3, Math.max(0.05, now.scale * factor));
    setPlace({
      scale,
      x: now.x + x / now.scale - x / scale,
      y: now.y + y / now.scale - y / scale,
    });
  };
  const centre = ({ x, y }: Placed) => {
    const scale = Math.max(now.scale, 0.6);
    setPlace({ scale, x: x - sight.width / 2 / scale, y: y - sight.height / 2 / scale });
  };
  /** The record to move to as soon as it is in the picture. */
  const goal = useRef('');
  useEffect(() => {
    const shape = picture.shapes.find(({ id }) => id === goal.current);
    if (!shape) return;
    goal.current = '';
    centre(shape);
    setChosen(shape.id);
  });
  const moveTo = (path: string) => {
    goal.current = path;
    const group = [...groups].find(([, parts]) => parts.some((part) => part.path === path));
    setOpen(new Set([...open, ...(group ? [group[0]] : [])]));
  };
  const toggle = (group: string) => setOpen(new Set([...open, group]));
  const areAllOpen = [...groups.keys()].every((name) => open.has(name));
  return (
    <>
      <div class="row filters">
        <label>
          Find{' '}
          <input
            type="search"
            value={words}
            onInput={({ currentTarget: { value } }) => setWords(value)}
            onKeyDown={({ key }) => {
              const [first] = found;
              if (key === 'Enter' && first) moveTo(first.path);
            }}
          />
        </label>
        <button type="button" onClick={() => zoom(1.3)}>
          Zoom in
        </button>
        <button type="button" onClick={() => zoom(1 / 1.3)}>
          Zoom out
        </button>
        <button type="button" onClick={() => setPlace(whole(picture, sight))}>
          Show all
        </button>
        {groups.size > 0 && graph.nodes.length <= maxDrawn && (
          <button
            type="button"
            onClick={() => {
              setOpen(new Set(areAllOpen ? [] : groups.keys()));
              setPlace(undefined);
            }}
          >
            {areAllOpen ? 'Close the groups' : 'Open the groups'}
          </button>
        )}
      </div>
      <p class="faint" role="status">
        {graph.nodes.length < graph.total
          ? `The first ${graph.nodes.length} of ${graph.total} records`
          : `${graph.total} ${graph.total === 1 ? 'record' : 'records'}`}
        {words !== '' && `, ${found.length} found`}
      </p>
      {words !== '' && (
        <ul class="plain found">
          {found.slice(0, maxFound).map((node) => (
            <li key={node.path}>
              <RecordLink record={node} />{' '}
              <button type="button" onClick={() => moveTo(node.path)}>
                Show <span class="hidden">{node.title}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <GraphPicture
        picture={picture}
        place={now}
        sight={sight}
        matches={matches}
        chosen={chosen}
        onSight={setSight}
        onPlace={(next) => setPlace(next ?? whole(picture, sight))}
        onZoom={zoom}
        onChoose={setChosen}
        onToggle={toggle}
      />
      <p class="faint">
        Arrow keys go from record to record, Enter opens one, + and − zoom, 0 shows all. Drag to
        move; Ctrl and the wheel zoom.
      </p>
    </>
  );
}

/** Returns the records with all the words in their title, key or type. */
function findNodes({ nodes }: GraphData, words: string) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  return nodes.filter(({ title, path, type, status = '' }) => {
    const text = `${title} ${path} ${type} ${status}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** Returns the place that a picture begins at: its first records, if all of them would be too small to read. */
function beginning(picture: Picture, sight: Sight): Place {
  const all = whole(picture, sight);
  const margin = -12 / readable;
  return all.scale >= readable ? all : { scale: readable, x: margin, y: margin };
}

/** Returns the place that shows a whole picture, or its beginning where that would be too small to see. */
function whole({ width, height }: Picture, sight: Sight): Place {
  const fit = Math.min((sight.width - 24) / width, (sight.height - 24) / height);
  const scale = Math.min(1, Math.max(0.12, fit));
  const offset = (seen: number, size: number) => Math.min(12 / scale, (seen / scale - size) / 2);
  return {
    scale,
    x: -Math.max(12 / scale, offset(sight.width, width)),
    y: -Math.max(12 / scale, offset(sight.height, height)),
  };
}
