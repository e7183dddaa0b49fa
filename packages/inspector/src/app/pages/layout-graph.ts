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

export const nodeWidth = 248;
export const nodeHeight = 64;
const gapX = 72;
const gapY = 24;
const margin = 24;

/** A place in the picture: of a task, or of an edge that passes a column. */
interface Cell {
  readonly key: string;
  readonly column: number;
  row: number;
}

/**
 * Places tasks in columns: each to the right of those that it refers to or was started by. An edge that passes a column
 * has a row of its own there, so that it crosses no task.
 */
export function layoutGraph({ nodes, edges }: TaskPicture): GraphLayout {
  const forward = withoutCircles(nodes, edges);
  const columns = columnsOf(nodes, forward);
  const cells = new Map<string, Cell>();
  const before = new Map<string, string[]>();
  const add = (key: string, column: number) => cells.set(key, { key, column, row: 0 });
  for (const { id } of nodes) add(id, columns.get(id)!);
  const ways = forward.map((edge) => {
    const way = [edge.from];
    for (let column = columns.get(edge.from)! + 1; column < columns.get(edge.to)!; column += 1) {
      const key = `${edge.from} ${edge.to} ${column}`;
      add(key, column);
      way.push(key);
    }
    way.push(edge.to);
    for (const [index, key] of way.slice(1).entries())
      before.set(key, [...(before.get(key) ?? []), way[index]!]);
    return { edge, way };
  });
  placeRows([...cells.values()], (key) => (before.get(key) ?? []).map((each) => cells.get(each)!));
  const x = ({ column }: Cell) => margin + column * (nodeWidth + gapX);
  const y = ({ row }: Cell) => margin + row * (nodeHeight + gapY);
  const all = [...cells.values()];
  return {
    nodes: nodes.map((node) => ({ node, x: x(cells.get(node.id)!), y: y(cells.get(node.id)!) })),
    edges: ways.map(({ edge, way }) => ({
      edge,
      path: pathThrough(way.map((key) => ({ x: x(cells.get(key)!), y: y(cells.get(key)!) }))),
    })),
    width: Math.max(0, ...all.map(x)) + nodeWidth + margin,
    height: Math.max(0, ...all.map(y)) + nodeHeight + margin,
  };
}

/** The edges without those that lead back to a task they can be reached from. */
function withoutCircles(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): readonly GraphEdge[] {
  const known = new Set(nodes.map(({ id }) => id));
  const targets = new Map<string, string[]>();
  const reaches = (from: string, to: string): boolean => {
    const seen = new Set([from]);
    const open = [from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === to) return true;
      for (const next of targets.get(id) ?? []) {
        if (!seen.has(next)) open.push(next);
        seen.add(next);
      }
    }
    return false;
  };
  // What a task started says more than what it refers to: those edges are kept first.
  const ordered = [...edges].sort(
    (one, other) => Number(one.kind !== 'child') - Number(other.kind !== 'child'),
  );
  const kept = ordered.filter(({ from, to }) => {
    if (!known.has(from) || !known.has(to) || reaches(to, from)) return false;
    targets.set(from, [...(targets.get(from) ?? []), to]);
    return true;
  });
  return kept;
}

/** The length of the longest path to each node. */
function columnsOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<string, number> {
  const columns = new Map(nodes.map(({ id }) => [id, 0]));
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const { from, to } of edges) {
      const wanted = columns.get(from)! + 1;
      if (wanted <= columns.get(to)!) continue;
      columns.set(to, wanted);
      isChanged = true;
    }
  }
  return columns;
}

/** Column by column: each cell as near as it can be to those that lead to it, in their order. */
function placeRows(cells: readonly Cell[], before: (key: string) => readonly Cell[]): void {
  const byColumn = [...Map.groupBy(cells, ({ column }) => column)].sort(([one], [other]) => one - other);
  for (const [, column] of byColumn) {
    const wanted = new Map(
      column.map((cell, index) => {
        const rows = before(cell.key).map(({ row }) => row);
        return [cell, rows.length > 0 ? rows.reduce((sum, row) => sum + row, 0) / rows.length : index];
      }),
    );
    let next = 0;
    for (const cell of [...column].sort((one, other) => wanted.get(one)! - wanted.get(other)!)) {
      cell.row = Math.max(next, Math.round(wanted.get(cell)!));
      next = cell.row + 1;
    }
  }
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** A line from the right side of the first place to the left side of the last, straight through those between. */
function pathThrough(places: readonly Place[]): string {
  const [first, ...others] = places;
  const middle = (place: Place) => place.y + nodeHeight / 2;
  const bend = gapX / 2;
  let path = `M${first!.x + nodeWidth},${middle(first!)}`;
  let last = first!;
  for (const [index, place] of others.entries()) {
    const x1 = last.x + nodeWidth;
    path += ` C${x1 + bend},${middle(last)} ${place.x - bend},${middle(place)} ${place.x},${middle(place)}`;
    if (index < others.length - 1) path += ` L${place.x + nodeWidth},${middle(place)}`;
    last = place;
  }
  return path;
}
