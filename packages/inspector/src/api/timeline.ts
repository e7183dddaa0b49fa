import type { Fact } from '@batonjs/lifecycle';
import type { Json, Message, StreamResponse } from '@batonjs/protocol';
import type { Call } from './model-calls.ts';

/** The members of a part, of which it has one of the first four. All can be read. */
export interface PartMembers {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: Json;
  readonly filename?: string;
  readonly mediaType?: string;
}

/** A change of a connection that the inspector noticed. It is in no log. */
export interface Notice {
  readonly type: 'connection';
  readonly state: 'lost' | 'reconnecting' | 'resumed' | 'polling';
  /** Where: between inspector and agent, or between browser and inspector. */
  readonly link: 'agent' | 'inspector';
  /** The event or position after which it went on. */
  readonly after?: string;
  readonly why?: string;
}

/** Who may write a task. */
export interface Lease {
  /** Grows with every lease of the task; 0 before the first. */
  readonly fence: number;
  /** The token of the turn that may write; absent while the task is free. */
  readonly holder?: string;
  /** Whether the task waits for a process. */
  readonly isWanted: boolean;
}

/** How far a webhook of the task is. */
export interface Delivery {
  /** Id of the webhook. */
  readonly id: string;
  /** The origin alone: path and query may hold a secret. */
  readonly url: string;
  /** Position up to which the log was delivered. */
  readonly cursor: number;
  readonly attempts: number;
  readonly retryAt?: string;
  readonly dead?: string;
}

/** What stands beside the log at present: the log does not say when it became so. */
export interface Beside {
  /** Absent while no turn has it and none is wanted. */
  readonly lease?: Lease;
  /** When the task is due without a message: ISO 8601. */
  readonly dueAt?: string;
  /** The version that its turn waits for, which no process runs, and the name of the agent in its store. */
  readonly waitsFor?: { readonly version: string; readonly queue: string };
  readonly deliveries: readonly Delivery[];
}

export interface Entry {
  /** Where a reader goes on: the position of the fact, or the number in a recording. Notices have the one before them. */
  readonly seq: number;
  /** When it happened or was seen: ISO 8601. Absent for what a task had before the inspector saw it. */
  readonly at?: string;
  /** A fact of the log. */
  readonly fact?: Fact;
  /** What the step called that ended: a model or a tool. */
  readonly call?: Call;
  /** An event of a stream. */
  readonly event?: StreamResponse;
  /** A message of the client. */
  readonly message?: Message;
  readonly notice?: Notice;
}

/** A line of the feed of a timeline. */
export type TimelineUpdate =
  /** `isRestart`: positions of before mean nothing any more, forget all entries. */
  | {
      readonly type: 'open';
      readonly source: string;
      readonly kind: 'log' | 'recording';
      readonly isRestart: boolean;
      /** The time at the inspector in milliseconds since 1970, for entries that the browser makes. */
      readonly now: number;
    }
  | { readonly type: 'entries'; readonly entries: readonly Entry[] }
  /** Sent first, and whenever it changed. */
  | { readonly type: 'beside'; readonly beside: Beside }
  /** All that happened so far was sent. */
  | { readonly type: 'live' }
  | { readonly type: 'problem'; readonly message: string };
