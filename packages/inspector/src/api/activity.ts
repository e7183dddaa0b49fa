import type { Action } from './agent.ts';

/** Something that was done with the inspector, or tried. */
export interface ActionRecord {
  /** ISO 8601. */
  readonly at: string;
  /** The name of the viewer, if `authenticate` gave one. */
  readonly by?: string;
  readonly action: Action;
  /** Id of the agent. */
  readonly agent?: string;
  readonly taskId?: string;
  /** Why it failed, in one sentence; absent if it did not. */
  readonly problem?: string;
}
