import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { GraphData } from './answers.ts';
import { useAnswer } from './data.ts';
import { arrange, groupsOf, type Picture, type Placed } from './graph-layout.ts';
import { GraphPicture, type Place, type Sight } from './graph-picture.tsx';
import { RecordLink, Waiting } from './parts.tsx';
import type { Route } from './route.ts';

/** Maximum number of records that the search in the picture lists. */
const maxFound = 12;
/** The width of a narrow screen in pixels, and the scale that its user can read. */
const narrow = 600;
const readable = 0.7;

/** Features with their requirements and paths, objectives with their tasks and tickets, as a picture. */
export function GraphPage({ route: { at } }: { route: Route }) {
  const answer = useAnswer<GraphData>('/memory/graph', { at });
  return (
    <>
      <h1>Graph</h1>
      <Waiting answer={answer}>
        {(graph) =>
          graph.nodes.length === 0 ? (
            <p class="faint">There are no features, objectives, tasks or tickets yet.</p>
          ) : (
            <Graph graph={graph} />
          )
        }
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
        {groups.size > 0 && (
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

/** Returns the place that a picture begins at: on a narrow screen, its first records in a readable size. */
function beginning(picture: Picture, sight: Sight): Place {
  const all = whole(picture, sight);
  const margin = -12 / readable;
  const isWide = sight.width >= narrow || all.scale >= readable;
  return isWide ? all : { scale: readable, x: margin, y: margin };
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
