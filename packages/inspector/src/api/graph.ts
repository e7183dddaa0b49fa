import type { TaskRow } from './task.ts';

/** A task in the picture. */
export interface GraphNode extends TaskRow {
  /** Id of the agent that it belongs to. */
  readonly agent: string;
}

/** Two tasks that belong together: the later one refers to the earlier one, or the parent started the child. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'reference' | 'child';
}

/** The tasks of a context and those that they are linked with. */
export interface TaskPicture {
  readonly contextId: string;
  /** Oldest first. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** There are more tasks than the picture shows. */
  readonly isCut: boolean;
}
