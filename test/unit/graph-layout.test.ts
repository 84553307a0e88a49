import { expect, test } from 'vitest';
import type { GraphData } from '../../src/server/page/answers.ts';
import { arrange, groupsOf, shapeHeight, shapeWidth } from '../../src/server/page/graph-layout.ts';
import { deep } from '../support/depth.ts';

/** Objectives with tasks, and a feature that each of them is about. */
function graphOf(objectives: number, tasks: number): GraphData {
  const nodes: GraphData['nodes'] = [{ path: 'f', title: 'f', type: 'feature' }];
  const edges: [number, number][] = [];
  for (let i = 0; i < objectives; i++) {
    const objective = nodes.push({ path: `o${i}`, title: `o${i}`, type: 'objective' }) - 1;
    if (i % 2 === 0) edges.push([objective, 0]);
    for (let k = 0; k < tasks; k++) {
      const path = `o${i}/t${k}`;
      edges.push([objective, nodes.push({ path, title: path, type: 'task' }) - 1]);
    }
  }
  return { nodes, edges, total: nodes.length };
}

test('the graph has its wholes left of their parts, and no shape on another one', () => {
  const graph = graphOf(4, 3);
  const { shapes, lines, width, height } = arrange(graph, groupsOf(graph), new Set());
  expect(shapes).toHaveLength(17);
  expect(lines).toHaveLength(14);
  for (const { from, to } of lines) expect(from.x + shapeWidth).toBeLessThanOrEqual(to.x);
  for (const [i, a] of shapes.entries()) {
    expect(a.x + shapeWidth / 2).toBeLessThanOrEqual(width);
    expect(a.y + shapeHeight / 2).toBeLessThanOrEqual(height);
    for (const b of shapes.slice(i + 1)) {
      const apart = Math.abs(a.x - b.x) >= shapeWidth || Math.abs(a.y - b.y) >= shapeHeight;
      expect(apart).toBe(true);
    }
  }
});

deep('a large graph begins with groups, which open one by one', () => {
  const graph = graphOf(100, 19);
  expect(graph.nodes).toHaveLength(2001);
  const groups = groupsOf(graph);
  expect(groups.size).toBe(100);
  const closed = arrange(graph, groups, new Set());
  expect(closed.shapes).toHaveLength(201);
  expect(closed.shapes.filter(({ group }) => group?.length === 19)).toHaveLength(100);
  const [first = ''] = groups.keys();
  expect(arrange(graph, groups, new Set([first])).shapes).toHaveLength(219);
});

test('a circle in the graph and a record twice in a list are drawn', () => {
  const nodes = ['a', 'b'].map((path) => ({ path, title: path, type: 'feature' }));
  const graph: GraphData = {
    nodes,
    edges: [
      [0, 1],
      [1, 0],
      [0, 1],
    ],
    total: 2,
  };
  const { shapes, lines } = arrange(graph, groupsOf(graph), new Set());
  expect(shapes).toHaveLength(2);
  expect(lines).toHaveLength(2);
});
