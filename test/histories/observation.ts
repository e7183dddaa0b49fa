import type { Head, Snapshot } from '@batonjs/lifecycle';
import type { StreamResponse, Task, TaskState } from '@batonjs/protocol';
import type { StoredFact, TaskStore } from '@batonjs/store';

/**
 * - `lost`: an answer to a client is not in the log, or a follower was not shown a fact that is
 * - `duplicated`, `reordered`: kept or shown twice, or not in the order of the log
 * - `doubleTerminal`: a second end, a fact after the end, or two clients that saw different ends
 * - `doubleTurns`: two turns that wrote at the same time
 * - `stuck`: not at rest although it had the time
 * - `corrupt`: log, head, snapshot and events disagree
 */
export type ViolationKind =
  | 'lost'
  | 'duplicated'
  | 'reordered'
  | 'doubleTerminal'
  | 'doubleTurns'
  | 'stuck'
  | 'corrupt';

/** The kind of a violation and its description. */
export type Finding = readonly [ViolationKind, string];

/** Something that must never happen, and did. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly taskId: string;
  /** The client that saw it, if one did. */
  readonly client?: string;
  readonly message: string;
}

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

/** A stored log, from its first fact. */
export interface KeptLog {
  readonly taskId: string;
  readonly head: Head;
  readonly snapshot?: Snapshot;
  readonly facts: readonly StoredFact[];
}

/** Reads a log from its first fact, or undefined if it does not exist. No process may write it meanwhile. */
export async function readLog(store: TaskStore, scope: string, taskId: string): Promise<KeptLog | undefined> {
  const log = await store.load(scope, taskId);
  if (!log) return undefined;
  const facts: StoredFact[] = [];
  for (;;) {
    const more = await store.readFacts(scope, taskId, facts.length, 500);
    if (more.length === 0) return { taskId, head: log.head, snapshot: log.snapshot, facts };
    facts.push(...more);
  }
}
