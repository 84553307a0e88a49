import { graphlib, layout } from '@dagrejs/dagre';
import type { GraphData, GraphNode } from './answers.ts';

/** A record of the picture, or a closed group of parts of the same type. */
interface Shape {
  /** The path of the record, or the name of the group. */
  readonly id: string;
  readonly node: GraphNode;
  /** The parts in a group; undefined for a record. */
  readonly group: readonly GraphNode[] | undefined;
}

/** A shape with the place of its centre. */
export interface Placed extends Shape {
  readonly x: number;
  readonly y: number;
}

/** A line from a whole to its part. */
export interface Line {
  readonly from: Placed;
  readonly to: Placed;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** The shapes and lines of a picture, from the point 0, 0 on. */
export interface Picture {
  readonly shapes: readonly Placed[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
}

/** The size of a shape. */
export const shapeWidth = 210;
export const shapeHeight = 44;

/** A graph of this size needs no groups. */
const small = 60;
/** Fewer parts of one type are not a group. */
const minGroup = 4;
const gap = 14;
/** The space between two parts of the picture that are not connected. */
const margin = 36;

/**
 * Returns the groups of a large graph: the parts of one type that a record has for itself, and the records
 * of one type in a folder that are connected with none.
 */
export function groupsOf({ nodes, edges }: GraphData): ReadonlyMap<string, readonly GraphNode[]> {
  const groups = new Map<string, GraphNode[]>();
  if (nodes.length <= small) return groups;
  const owners = new Map<number, number[]>();
  const wholes = new Set<number>();
  for (const [from, to] of edges) {
    wholes.add(from);
    owners.set(to, [...(owners.get(to) ?? []), from]);
  }
  for (const [part, [owner, ...others]] of owners) {
    const [whole, node] = [nodes[owner ?? -1], nodes[part]];
    if (others.length > 0 || wholes.has(part) || !whole || !node) continue;
    const name = groupName(whole, node);
    groups.set(name, [...(groups.get(name) ?? []), node]);
  }
  for (const [at, node] of nodes.entries()) {
    if (owners.has(at) || wholes.has(at)) continue;
    const folder = node.path.replace(/\/?[^/]*$/, '');
    const name = `${node.type}s in ${folder}`;
    groups.set(name, [...(groups.get(name) ?? []), node]);
  }
  for (const [name, parts] of groups) if (parts.length < minGroup) groups.delete(name);
  return groups;
}

function groupName(whole: GraphNode, part: GraphNode): string {
  return `${part.type}s of ${whole.path}`;
}

/** Arranges a graph in layers from left to right: what is not connected is arranged on its own. */
export function arrange(
  graph: GraphData,
  groups: ReadonlyMap<string, readonly GraphNode[]>,
  open: ReadonlySet<string>,
): Picture {
  const closed = new Map<string, Shape>();
  for (const [id, group] of groups) {
    const [first] = group;
    if (!first || open.has(id)) continue;
    const node = { ...first, title: `${group.length} ${first.type}s` };
    for (const { path } of group) closed.set(path, { id, node, group });
  }
  const shapes = new Map<string, Shape>();
  const shapeOf = (node: GraphNode): Shape => {
    const shape = closed.get(node.path) ?? { id: node.path, node, group: undefined };
    if (!shapes.has(shape.id)) shapes.set(shape.id, shape);
    return shapes.get(shape.id) ?? shape;
  };
  const drawing = new graphlib.Graph();
  for (const node of graph.nodes) drawing.setNode(shapeOf(node).id, {});
  for (const [from, to] of graph.edges) {
    const [whole, part] = [graph.nodes[from], graph.nodes[to]];
    if (whole && part) drawing.setEdge(shapeOf(whole).id, shapeOf(part).id);
  }
  const pieces = graphlib.alg
    .components(drawing)
    .map((ids: readonly string[]) => piece(ids, drawing, shapes));
  return pack(pieces);
}

/** Arranges shapes that are connected with each other. */
function piece(
  ids: readonly string[],
  all: graphlib.Graph,
  shapes: ReadonlyMap<string, Shape>,
): Picture {
  const part = new graphlib.Graph();
  part.setGraph({ rankdir: 'LR', nodesep: gap, edgesep: gap, ranksep: 70 });
  const size = { width: shapeWidth, height: shapeHeight };
  for (const id of ids) {
    part.setNode(id, { ...size });
    for (const edge of all.outEdges(id) ?? []) part.setEdge(edge.v, edge.w, {});
  }
  layout(part);
  const placed = new Map(
    ids.flatMap((id): [string, Placed][] => {
      const shape = shapes.get(id);
      const { x, y } = part.node(id);
      return shape ? [[id, { ...shape, x, y }]] : [];
    }),
  );
  const edges: { v: string; w: string }[] = part.edges();
  const lines = edges.flatMap((edge): Line[] => {
    const [from, to] = [placed.get(edge.v), placed.get(edge.w)];
    return from && to ? [{ from, to, points: part.edge(edge).points }] : [];
  });
  const { width = 0, height = 0 } = part.graph();
  return { shapes: [...placed.values()], lines, width, height };
}

/** Puts pictures next to and below each other, the largest first, as wide as they are high. */
function pack(pieces: readonly Picture[]): Picture {
  const sorted = [...pieces].sort((a, b) => b.height - a.height || b.width - a.width);
  const area = sorted.reduce((sum, { width, height }) => sum + width * height, 0);
  const wide = Math.max(Math.sqrt(area * 1.6), ...sorted.map(({ width }) => width));
  const shapes: Placed[] = [];
  const lines: Line[] = [];
  let [x, y, rowHeight, width] = [0, 0, 0, 0];
  for (const one of sorted) {
    if (x > 0 && x + one.width > wide) [x, y, rowHeight] = [0, y + rowHeight + margin, 0];
    const [right, down] = [x, y];
    const moved = new Map(
      one.shapes.map((shape) => [shape, { ...shape, x: shape.x + right, y: shape.y + down }]),
    );
    shapes.push(...moved.values());
    for (const { from, to, points } of one.lines) {
      lines.push({
        from: moved.get(from) ?? from,
        to: moved.get(to) ?? to,
        points: points.map((point) => ({ x: point.x + right, y: point.y + down })),
      });
    }
    x += one.width + margin;
    rowHeight = Math.max(rowHeight, one.height);
    width = Math.max(width, x - margin);
  }
  return { shapes, lines, width, height: y + rowHeight };
}
