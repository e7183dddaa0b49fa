import type { GraphEdge, GraphNode, TaskPicture } from '../../api/graph.ts';

/** A node with its place. */
export interface Placed {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
}

/** A picture with the places of everything in it, in pixels. */
export interface GraphLayout {
  readonly nodes: readonly Placed[];
  readonly edges: readonly { readonly edge: GraphEdge; readonly path: string }[];
  readonly width: number;
  readonly height: number;
}

export const nodeWidth = 232;
export const nodeHeight = 64;
const gapX = 88;
const gapY = 24;
const margin = 24;

/** Places tasks in columns: each to the right of those that it refers to or was started by. */
export function layoutGraph({ nodes, edges }: TaskPicture): GraphLayout {
  const columns = columnsOf(nodes, edges);
  const heights = new Map<number, number>();
  const placed = new Map<string, Placed>();
  for (const node of nodes) {
    const column = columns.get(node.id) ?? 0;
    const row = heights.get(column) ?? 0;
    heights.set(column, row + 1);
    placed.set(node.id, {
      node,
      x: margin + column * (nodeWidth + gapX),
      y: margin + row * (nodeHeight + gapY),
    });
  }
  const drawn = edges.flatMap((edge) => {
    const from = placed.get(edge.from);
    const to = placed.get(edge.to);
    return from && to ? [{ edge, path: curve(from, to) }] : [];
  });
  const columnCount = Math.max(0, ...columns.values()) + 1;
  const rowCount = Math.max(1, ...heights.values());
  return {
    nodes: [...placed.values()],
    edges: drawn,
    width: 2 * margin + columnCount * nodeWidth + (columnCount - 1) * gapX,
    height: 2 * margin + rowCount * nodeHeight + (rowCount - 1) * gapY,
  };
}

/** The length of the longest path to each node. Tasks that name each other in a circle stay where they are reached first. */
function columnsOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<string, number> {
  const columns = new Map(nodes.map(({ id }) => [id, 0]));
  for (let round = 0; round < nodes.length; round += 1) {
    let isChanged = false;
    for (const { from, to } of edges) {
      const wanted = (columns.get(from) ?? 0) + 1;
      if (wanted <= (columns.get(to) ?? 0) || wanted >= nodes.length) continue;
      columns.set(to, wanted);
      isChanged = true;
    }
    if (!isChanged) break;
  }
  return columns;
}

function curve(from: Placed, to: Placed): string {
  const x1 = from.x + nodeWidth;
  const y1 = from.y + nodeHeight / 2;
  const y2 = to.y + nodeHeight / 2;
  const bend = Math.max(32, (to.x - x1) / 2);
  return `M${x1},${y1} C${x1 + bend},${y1} ${to.x - bend},${y2} ${to.x},${y2}`;
}
