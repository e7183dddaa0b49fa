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
  readonly column: number;
  row: number;
  /** Those that lead to it. */
  readonly before: Cell[];
}

/**
 * Places tasks in columns: each to the right of those that it refers to or was started by. An edge that passes a column
 * has a row of its own there, so that it crosses no task.
 */
export function layoutGraph({ nodes, edges }: TaskPicture): GraphLayout {
  const forward = withoutCircles(nodes, edges);
  const columns = columnsOf(nodes, forward);
  const cells: Cell[] = [];
  const add = (column: number): Cell => {
    const cell: Cell = { column, row: 0, before: [] };
    cells.push(cell);
    return cell;
  };
  const tasks = new Map(nodes.map(({ id }) => [id, add(columns.get(id) ?? 0)]));
  const ways = forward.flatMap((edge) => {
    const [from, to] = [tasks.get(edge.from), tasks.get(edge.to)];
    if (!from || !to) return [];
    const way = [from];
    for (let column = from.column + 1; column < to.column; column += 1) way.push(add(column));
    way.push(to);
    for (const [index, cell] of way.entries())
      if (index > 0) cell.before.push(...way.slice(index - 1, index));
    return [{ edge, way }];
  });
  placeRows(cells);
  const placed = nodes.flatMap((node) => {
    const cell = tasks.get(node.id);
    return cell ? [{ node, ...placeOf(cell) }] : [];
  });
  const places = cells.map(placeOf);
  return {
    nodes: placed,
    edges: ways.map(({ edge, way }) => ({ edge, path: pathThrough(way.map(placeOf)) })),
    width: Math.max(0, ...places.map(({ x }) => x)) + nodeWidth + margin,
    height: Math.max(0, ...places.map(({ y }) => y)) + nodeHeight + margin,
  };
}

const placeOf = ({ column, row }: Cell): Place => ({
  x: margin + column * (nodeWidth + gapX),
  y: margin + row * (nodeHeight + gapY),
});

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
      const wanted = (columns.get(from) ?? 0) + 1;
      if (wanted <= (columns.get(to) ?? 0)) continue;
      columns.set(to, wanted);
      isChanged = true;
    }
  }
  return columns;
}

/** Column by column: each cell as near as it can be to those that lead to it, in their order. */
function placeRows(cells: readonly Cell[]): void {
  const byColumn = [...Map.groupBy(cells, ({ column }) => column)].sort(([one], [other]) => one - other);
  for (const [, column] of byColumn) {
    const wanted = column.map((cell, index) => {
      const sum = cell.before.reduce((rows, { row }) => rows + row, 0);
      return { cell, row: cell.before.length > 0 ? sum / cell.before.length : index };
    });
    let next = 0;
    for (const { cell, row } of wanted.sort((one, other) => one.row - other.row)) {
      cell.row = Math.max(next, Math.round(row));
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
  const middle = (place: Place) => place.y + nodeHeight / 2;
  const bend = gapX / 2;
  let path = '';
  let last: Place | undefined;
  for (const place of places) {
    if (last) {
      const x1 = last.x + nodeWidth;
      path += `${path === '' ? 'M' : 'L'}${x1},${middle(last)}`;
      path += ` C${x1 + bend},${middle(last)} ${place.x - bend},${middle(place)} ${place.x},${middle(place)} `;
    }
    last = place;
  }
  return path.trim();
}
