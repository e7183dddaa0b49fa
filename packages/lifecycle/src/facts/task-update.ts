import type { Artifact, TaskStatus } from '@batonjs/protocol';
import type { Child, Fact, Metadata } from './facts.ts';
import type { Question } from './question-link.ts';

/** What every update may record besides, in the same commit. */
interface Recorded {
  readonly metadata?: Metadata;
  /** What the update shows of a child. */
  readonly child?: ChildUpdate;
  readonly memory?: MemoryUpdate;
  /** The labels of the task from now on, besides those with which it began. */
  readonly labels?: readonly string[];
}

/** The facts that record this beside what clients see. */
export const recordedIn = {
  child: 'child-updated',
  memory: 'memory-changed',
  labels: 'labels-set',
} as const satisfies Record<Exclude<keyof Recorded, 'metadata'>, Fact['type']>;

/** An update of a task by its agent. `decide` adds ids and timestamps. */
export type TaskUpdate =
  | (Recorded &
      Question & {
        readonly status: Omit<TaskStatus, 'timestamp'>;
        /** The work was finished before the agent noticed that a client asked to cancel: COMPLETED stays COMPLETED. */
        readonly beforeCancel?: boolean;
      })
  | (Recorded & {
      readonly artifact: Artifact;
      /** Adds the parts to the artifact with the same id instead of replacing it. */
      readonly append?: boolean;
      readonly lastChunk?: boolean;
    })
  /** Only something about a child, or the labels: clients get no event, and no metadata. */
  | (Recorded & { readonly child: ChildUpdate })
  | (Recorded & { readonly labels: readonly string[] });

/** What the agent remembers from now on, by key, as JSON; `undefined` forgets a key. In the commit of its update. */
export type MemoryUpdate = Readonly<Record<string, unknown>>;

/** A child as its parent knows it from now on. */
export interface ChildUpdate extends Child {
  readonly name: string;
}
