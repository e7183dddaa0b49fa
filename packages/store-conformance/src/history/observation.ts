import type { StreamResponse, Task, TaskState } from '@batonjs/protocol';

/** An event of a stream, with the position that came with it. */
export interface SeenEvent {
  readonly position: number;
  /** The whole task as it was at that position, instead of what happened there. */
  readonly snapshot?: Pick<Task, 'status' | 'artifacts'> | true;
  /** What the client was shown. Left out: only positions are compared. */
  readonly response?: StreamResponse;
}

/** Everything a client saw of one task by following it, over all its connections. */
export interface Stream {
  readonly type: 'stream';
  readonly client: string;
  readonly taskId: string;
  /** The position it started after. Left out: its first event is a snapshot. */
  readonly after?: number;
  readonly events: readonly SeenEvent[];
  /** The server ended the stream because the task had. */
  readonly complete?: boolean;
}

/** An observation of a client: an event or an answer. */
export type Observation =
  | Stream
  /** A message was accepted: a reply or an event came back for it. */
  | {
      readonly type: 'accepted';
      readonly client: string;
      readonly taskId: string;
      readonly messageId: string;
    }
  /** A commit was acknowledged by the store. */
  | {
      readonly type: 'committed';
      readonly client: string;
      readonly taskId: string;
      readonly commitId: string;
      /** Position of its last fact. */
      readonly version: number;
    }
  /** The client saw that the task ended in this state. */
  | { readonly type: 'ended'; readonly client: string; readonly taskId: string; readonly state: TaskState };
