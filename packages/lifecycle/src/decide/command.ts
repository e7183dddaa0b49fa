import type { Message } from '@batonjs/protocol';
import type {
  CallbackOpened,
  Fact,
  MessageReceived,
  Metadata,
  TurnFailed,
  TurnLogged,
  Usage,
} from '../facts/facts.ts';
import type { MemoryUpdate, TaskUpdate } from '../facts/task-update.ts';

/** A request to change a task. */
export type Command =
  /**
   * A client's message arrives. On an empty log it begins the task. Nothing happens if a message with its id arrived before;
   * the caller that used `once` compares the content.
   */
  | ({ readonly type: 'receive' } & Omit<MessageReceived, 'type' | 'format' | 'at'>)
  /** The log becomes a task that clients can see. Nothing happens if it is one, or if the agent answered without one. */
  | { readonly type: 'create'; readonly taskId: string }
  /**
   * The agent starts with all pending messages whose time has come, or starts again if the last turn was left open.
   * `dueBy`: the time that counts for that. Default: the time of the facts, which is never before that of earlier ones.
   */
  | {
      readonly type: 'start-turn';
      readonly alone?: true | undefined;
      readonly dueBy?: string | undefined;
      /** The version of the program that runs it. */
      readonly version?: string | undefined;
    }
  /**
   * The running turn asks for another one at a time (ISO 8601, UTC, milliseconds), or no more. `immediateWakes`: how many turns in
   * a row asked for one at once.
   */
  | {
      readonly type: 'set-wake';
      readonly time?: string | undefined;
      readonly immediateWakes?: number | undefined;
    }
  /** The running agent takes a message that arrived while it ran. Nothing happens if a turn took it already. */
  | { readonly type: 'take'; readonly messageId: string }
  /** The agent reports. */
  | { readonly type: 'update'; readonly update: TaskUpdate }
  /** The agent answers with a message. */
  | { readonly type: 'answer'; readonly message: Message }
  /** A step of the running turn finished. Every name can be used once, and once in the whole task with `keep`. */
  | {
      readonly type: 'complete-step';
      readonly name: string;
      readonly result: unknown;
      readonly keep?: 'task' | undefined;
      readonly usage?: Usage | undefined;
    }
  /** A try of a step of the running turn failed. `retryAt`: when the next one is due, if there is one. */
  | {
      readonly type: 'fail-step';
      readonly name: string;
      readonly message: string;
      readonly retryAt?: string | undefined;
    }
  /** The agent threw. With `retryAt`, the turn is paused until its next attempt. */
  | ({ readonly type: 'fail-turn' } & Pick<TurnFailed, 'message' | 'stack' | 'code' | 'retryAt'>)
  /** The running turn gives its process back until a time (ISO 8601, UTC, milliseconds), and starts again then. */
  | { readonly type: 'pause-turn'; readonly until: string }
  /** The agent remembers values, and forgets those that are undefined. */
  | { readonly type: 'change-memory'; readonly memory: MemoryUpdate }
  /** The agent logged lines. `full`: no more are kept of this task. */
  | ({ readonly type: 'log' } & Pick<TurnLogged, 'lines' | 'full'>)
  /** The running turn asks for a value from outside; or a link to a question is made, also without a turn. */
  | ({ readonly type: 'open-callback' } & Omit<CallbackOpened, 'type' | 'format' | 'at' | 'turn'>)
  /** The value comes. Refused if it came before, or after its time. */
  | { readonly type: 'receive-callback'; readonly id: string; readonly value: unknown }
  | { readonly type: 'end-turn' }
  | { readonly type: 'wake'; readonly metadata?: Metadata }
  /** A client asks to cancel the task. Nothing happens if it is canceled already. */
  | { readonly type: 'request-cancel'; readonly metadata?: Metadata };

/** A fact without its time. */
export type Happening = Fact extends infer F ? (F extends Fact ? Omit<F, 'format' | 'at'> : never) : never;
