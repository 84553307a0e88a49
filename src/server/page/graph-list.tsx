import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { GraphData, GraphNode } from './answers.ts';
import { RecordLink } from './parts.tsx';
import { addressTo } from './route.ts';

/** Number of records that a list shows at first, and of those that are added. */
const part = 100;

/** The records of the graph as a list: each whole with its parts, and all others by folder. */
export function GraphList({ graph: { nodes, edges } }: { graph: GraphData }) {
  const parts = new Map<number, GraphNode[]>();
  const owned = new Set<number>();
  for (const [from, to] of edges) {
    const node = nodes[to];
    if (node) parts.set(from, [...(parts.get(from) ?? []), node]);
    owned.add(to);
  }
  const wholes = nodes.flatMap((node, at) =>
    parts.has(at) ? [{ node, own: parts.get(at) ?? [] }] : [],
  );
  const others = nodes.filter((_, at) => !parts.has(at) && !owned.has(at));
  const folders = [...new Set(others.map(folderOf))];
  return (
    <section aria-label="List of the graph">
      <h2>As a list</h2>
      <Growing
        all={wholes.map(({ node, own }) => (
          <>
            <Linked node={node} />
            <Folded
              label={`${own.length} ${own.length === 1 ? 'part' : 'parts'} of ${node.title}`}
              all={own}
            />
          </>
        ))}
      />
      {folders.map((folder) => (
        <Folded
          key={folder}
          label={folder}
          all={others.filter((node) => folderOf(node) === folder)}
        />
      ))}
    </section>
  );
}

function folderOf({ path }: GraphNode): string {
  return path.replace(/\/?[^/]*$/, '');
}

/** Records that are listed once the person opens their heading. */
function Folded({ label, all }: { label: string; all: readonly GraphNode[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && <Growing all={all.map((node) => <Linked key={node.path} node={node} />)} />}
    </details>
  );
}

function Growing({ all }: { all: readonly JSX.Element[] }) {
  const [shown, setShown] = useState(part);
  return (
    <>
      <ul class="plain">
        {all.slice(0, shown).map((item, at) => (
          <li key={at}>{item}</li>
        ))}
      </ul>
      {all.length > shown && (
        <button type="button" onClick={() => setShown(shown + part)}>
          Show {Math.min(part, all.length - shown)} more of {all.length}
        </button>
      )}
    </>
  );
}

/** A record, and the way to what it rests on. */
function Linked({ node }: { node: GraphNode }) {
  return (
    <>
      <RecordLink record={node} />{' '}
      {node.status !== undefined && <span class="faint">{node.status.replaceAll('_', ' ')} </span>}
      <a class="faint" href={addressTo('graph', '', { of: node.path })}>
        around <span class="hidden">{node.title}</span>
      </a>
    </>
  );
}

/** Lists of the records that the first one of a graph rests on, and of those that rest on it. */
export function StepLists({ graph }: { graph: GraphData }) {
  const { edges, nodes, total } = graph;
  const forward = (at: number) => edges.flatMap(([from, to]) => (from === at ? [to] : []));
  const back = (at: number) => edges.flatMap(([from, to]) => (to === at ? [from] : []));
  return (
    <>
      {nodes.length < total && (
        <p class="faint">
          The first {nodes.length} of {total} records.
        </p>
      )}
      <div class="columns">
        <Steps title="It rests on" nodes={nodes} next={forward} />
        <Steps title="What rests on it" nodes={nodes} next={back} />
      </div>
    </>
  );
}

function Steps({
  title,
  nodes,
  next,
}: {
  title: string;
  nodes: readonly GraphNode[];
  next: (at: number) => readonly number[];
}) {
  const first = next(0);
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {first.length === 0 && <p class="faint">Nothing.</p>}
      <StepList nodes={nodes} all={first} next={(at) => next(at).filter((other) => other !== 0)} />
    </section>
  );
}

/** @param next the second step; undefined in the second one itself. */
function StepList({
  nodes,
  all,
  next,
}: {
  nodes: readonly GraphNode[];
  all: readonly number[];
  next?: (at: number) => readonly number[];
}) {
  if (all.length === 0) return null;
  return (
    <ul>
      {all.map((at) => {
        const node = nodes[at];
        if (!node) return null;
        return (
          <li key={at}>
            <Linked node={node} />
            {next && <StepList nodes={nodes} all={next(at)} />}
          </li>
        );
      })}
    </ul>
  );
}
