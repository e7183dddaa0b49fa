import type { Fact } from '@batonjs/lifecycle';
import type { Message, StreamResponse } from '@batonjs/protocol';

/** Something about a task that is in no log, and that the inspector noticed. */
export type Notice =
  | {
      readonly type: 'lease';
      /** Grows with every lease of the task; 0 before the first. */
      readonly fence: number;
      /** The token of the turn that may write; absent while the task is free. */
      readonly holder?: string;
      /** Whether the task waits for a process. */
      readonly isWanted: boolean;
    }
  | {
      readonly type: 'delivery';
      /** Id of the webhook. */
      readonly id: string;
      /** Without query, which may hold a secret. */
      readonly url: string;
      /** Position up to which the log was delivered. */
      readonly cursor: number;
      readonly attempts: number;
      readonly retryAt?: string;
      readonly dead?: string;
    }
  | { readonly type: 'deadline'; readonly dueAt: string }
  | {
      readonly type: 'connection';
      readonly state: 'lost' | 'reconnecting' | 'resumed' | 'polling';
      /** Where: between inspector and agent, or between browser and inspector. */
      readonly link: 'agent' | 'inspector';
      /** The event or position after which it went on. */
      readonly after?: string;
      readonly why?: string;
    };

/** One entry of a timeline. */
export interface Entry {
  /** Where a reader goes on: the position of the fact, or the number in a recording. Notices have the one before them. */
  readonly seq: number;
  /** When it happened or was seen: ISO 8601. Absent for what a task had before the inspector saw it. */
  readonly at?: string;
  /** A fact of the log. */
  readonly fact?: Fact;
  /** An event of a stream. */
  readonly event?: StreamResponse;
  /** A message of the client. */
  readonly message?: Message;
  readonly notice?: Notice;
}

/** A line of the feed of a timeline. */
export type TimelineUpdate =
  /** `isAnew`: positions of before mean nothing any more, forget all entries. */
  | {
      readonly type: 'open';
      readonly source: string;
      readonly kind: 'log' | 'recording';
      readonly isAnew: boolean;
    }
  | { readonly type: 'entries'; readonly entries: readonly Entry[] }
  /** All that happened so far was sent. */
  | { readonly type: 'live' }
  | { readonly type: 'problem'; readonly message: string };
