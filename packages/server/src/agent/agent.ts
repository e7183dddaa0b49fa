import type { Child, Metadata, TaskUpdate, Usage } from '@batonjs/lifecycle';
import type { Artifact, Json, Message, Part, Task } from '@batonjs/protocol';
import type { FileContent, PartOptions, TaskFile } from './builders.ts';
import type { CallbackRequest, OpenedCallback, ReceivedCallback } from './callback.ts';
import type { StepFunction, StepOptions } from './retries/retry.ts';
import type { TransactionDatabase } from './transaction.ts';

/** The answer of an agent: a message, or the updates of a task. */
export type Answer = Message | AsyncIterable<TaskUpdate>;

/** A generator of updates: the type of a function that an agent calls with `yield*` or returns. */
export type Updates = AsyncGenerator<TaskUpdate, void, void>;

/**
 * An agent is a function of a turn. It returns a message to just answer, or yields updates to work on a task. An
 * `async function*` always works on a task.
 *
 * ```ts
 * const agent: Agent = async function* ({ text }) {
 *   yield working('Looking it up');
 *   yield artifact('answer', '42');
 *   yield completed();
 * };
 * ```
 */
export type Agent = (turn: Turn) => Answer | Promise<Answer>;

/** Non-secret facts about the caller, as `authenticate` returned them. */
export type Claims = Readonly<Metadata>;

/** An artifact that a message refers to, and the task that made it. */
export interface ReferencedArtifact {
  readonly taskId: string;
  readonly artifact: Artifact;
}

/**
 * The tasks and artifacts that a message refers to. `missing` has the ids of those that do not exist for this caller,
 * and of tasks that do not fit into `limits.replyBytes` together.
 */
export interface References {
  /** Those that `referenceTaskIds` names, and those of the artifacts. */
  readonly tasks: readonly Task[];
  /** Those that `{ taskId, artifactId }` in the metadata of its parts names, as `refine` of the client does. */
  readonly artifacts: readonly ReferencedArtifact[];
  readonly missing: readonly string[];
}

/** What else happened in the context of a turn; of tasks that weigh more than `limits.replyBytes` together, the newest. */
export interface TurnContext {
  readonly id: string;
  /** The caller's other tasks in this context, oldest first, at most 100 (the newest), artifacts included. */
  tasks(): Promise<Task[]>;
  /** All messages in this context before this turn, oldest first: of tasks and plain answers. Of at most 100 logs. */
  messages(): Promise<Message[]>;
}

/**
 * Messages that arrive while the turn runs. Taking one is recorded; one that no turn takes starts the next turn. A later
 * attempt of the turn first gets those that the attempts before it took.
 */
export interface Inbox extends AsyncIterable<Message> {
  /** The next message, at once if it is there; undefined when the turn is over. */
  take(): Promise<Message | undefined>;
  /** How many messages wait. */
  readonly size: number;
}

/**
 * What the agent keeps as long as its task exists, as JSON, and no client sees. Together with the results of steps that
 * are kept for the task at most `limits.memoryBytes`. An update changes it in its own commit with `memory`:
 * `{ ...working(), memory: { page: 2 } }`.
 */
export interface Memory {
  /** A copy of the value that is stored now; undefined if there is none. */
  get<T = unknown>(key: string): T | undefined;
  /**
   * Resolves when the value is stored; `undefined` forgets the key. Rejects with a `TypeError` where JSON cannot hold it,
   * and with a `RangeError` that names key and sizes if it is too large.
   */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
}

/**
 * Lines for those who run the agent: each goes to the `logger` of the server or worker, and is kept with the task, where
 * the inspector shows it. No client sees them. `fields` are kept as JSON, an error with its stack. Never throws.
 */
export interface TurnLog {
  info(text: string, fields?: object): void;
  warn(text: string, fields?: object): void;
  error(text: string, fields?: object): void;
}

type NoJson = undefined | symbol | ((...args: never[]) => unknown);

/**
 * What JSON keeps of a value: a `Date` becomes a string, `undefined` becomes `null`, methods are lost. `never` where
 * JSON cannot hold the value.
 */
export type JsonOf<T> = unknown extends T
  ? T
  : T extends Json
    ? T
    : T extends void
      ? null
      : T extends bigint | NoJson
        ? never
        : T extends { toJSON(): infer J }
          ? JsonOf<J>
          : T extends readonly unknown[]
            ? { [Index in keyof T]: T[Index] extends NoJson ? null : JsonOf<T[Index]> }
            : { [Name in keyof T as JsonName<Name, T[Name]>]: MemberOf<T[Name]> };

type JsonName<Name, Member> = Name extends symbol ? never : Member extends NoJson ? never : Name;

type MemberOf<Member> = undefined extends Member
  ? JsonOf<Exclude<Member, undefined>> | undefined
  : JsonOf<Member>;

/** One run of an agent: the message that started it, with its conversation, caller and tools. */
export interface Turn {
  /**
   * The message to answer: the latest if several waited, or the answer by a link if one is among them. The same in every
   * attempt of the turn.
   */
  readonly message: Message;
  /** The whole conversation of this task, also what `history` hides from clients, oldest first. */
  readonly messages: readonly Message[];
  /** The text parts of `message`, joined by newlines. */
  readonly text: string;
  /**
   * The members of all data parts in this task that the sender of `message` sent; later ones win. What people sent by
   * links is not mixed with what clients sent.
   */
  readonly values: Readonly<Record<string, unknown>>;
  /** The conversation that this task belongs to. Tasks of one context see each other by `context`. */
  readonly contextId: string;
  /** The id of this task. */
  readonly taskId: string;
  /** The task as it is now, or undefined while the log is not a task. */
  readonly task: Task | undefined;
  /** What else happened in the conversation: `await turn.context.tasks()` and `await turn.context.messages()`. */
  readonly context: TurnContext;
  /** The tasks and artifacts that `message` refers to. */
  references(): Promise<References>;
  /**
   * The caller as `authenticate` returned it: its `scope`, and its claims. Empty without `authenticate`. A claim that is
   * called `scope` is hidden by the scope. Of an answer by a link, the scope, and `answeredBy`: the name of the person,
   * which no claim of a client can be.
   */
  readonly caller: Claims & { readonly scope?: string };
  /** Request metadata sent with `message`. */
  readonly metadata: Readonly<Metadata>;
  /** Media types the client accepts; empty if it did not say. */
  readonly acceptedOutputModes: readonly string[];
  /** URIs of the extensions active for `message`. */
  readonly extensions: readonly string[];
  /** 1, or more when the turn is run again: its process died, the agent threw, or a step waited for long. */
  readonly attempt: number;
  /**
   * Runs `fn` and records its JSON result, so that a later attempt of this turn gets the result instead of running it
   * again. A name is used once per attempt. `fn` runs at least once: a fenced process may still be inside it. Rejects
   * without calling `fn` if the signal is aborted, with its reason; and where JSON cannot hold the result, such as a
   * `bigint`.
   */
  step<T>(name: string, fn: StepFunction<T>): Promise<JsonOf<T>>;
  /**
   * The same with options: how often `fn` is tried that throws, how long one try may take, and whether the result is kept
   * for all later turns of the task. `fn` gets the `signal` and the number (`attempt`) of its try.
   */
  step<T>(name: string, options: StepOptions, fn: StepFunction<T>): Promise<JsonOf<T>>;
  /**
   * Records what a call of a model used, for those who run the agent and for `limits.tokensPerTask`. A name counts once in a
   * turn, however often the turn runs again. A step reports its own call with the option `usage`.
   */
  usage(name: string, usage: Usage): Promise<void>;
  /** What the agent keeps for later turns of the task, and no client sees: `await turn.memory.set('page', 2)`. */
  readonly memory: Memory;
  /**
   * Lines for those who run the agent: `turn.log.info('Looked up', { hits: 3 })`. Each goes to the `logger` at once, and is
   * kept with the task: in the next commit of the turn, half a second later at most in one of its own. A task keeps
   * `limits.logLinesPerTask` lines, of `limits.logBytesPerTask` bytes together, each with at most 2,000 characters of text
   * and 4,000 of fields.
   */
  readonly log: TurnLog;
  /**
   * Runs `fn` in a transaction of your database, and records its JSON result there and as that of a step of this name:
   * its effects are committed once, however often the turn runs. A later attempt gets the result. Rejects with nothing
   * committed if `fn` does, if JSON cannot hold the result, and with `FENCED` after a later turn or attempt of the task.
   * Rejects with the reason of the signal if that is aborted, also while `fn` runs. Rejects with `OUTCOME_UNKNOWN` if the
   * database cannot be asked whether it committed, until the turn is over. Effects elsewhere than in `tx` happen at least
   * once. Not to be called within `fn`.
   */
  transaction<Tx, T>(
    name: string,
    database: TransactionDatabase<Tx>,
    fn: (tx: Tx) => T | Promise<T>,
  ): Promise<JsonOf<T>>;
  /**
   * A key for an effect elsewhere, such as the header `Idempotency-Key`: the same in every attempt of this turn, another
   * one for each name, turn and task, and unguessable. 43 characters of letters, digits, `-` and `_`. The first key of a
   * turn records its secret in the log, and so rejects as a step does if the turn lost its task.
   */
  idempotencyKey(name: string): Promise<string>;
  /**
   * Messages that arrive while the turn runs: `for await (const message of turn.inbox)`, or `await turn.inbox.take()`.
   * One that no turn takes starts the next turn.
   */
  readonly inbox: Inbox;
  /**
   * The tasks that this task started at other agents, in this turn and in those before, by name; what the `child` of
   * updates recorded. Look up with `Object.hasOwn`. `nestedTasks` of `@batonjs/nested-tasks` keeps this record.
   */
  readonly children: Readonly<Record<string, Child>>;
  /**
   * Aborted when the task is canceled, the turn was given to another process, its time is over, a step waits for long or
   * the server closes: `reason.code` is `CANCELED`, `FENCED`, `DEADLINE`, `PAUSED` or `SHUTDOWN`.
   */
  readonly signal: AbortSignal;
  /** Grows with every lease of this task. Pass it to systems that must refuse a stale turn. */
  readonly fence: number;
  /**
   * Asks for another turn of this task at a time (a `Date`, or milliseconds since 1970), in place of the time it asked
   * for before; without a time, for none. It starts in any process, also after restarts, about a second late at most if
   * a process is free. If the time has come, it starts at once. Turns in a row that ask for such a time follow each other
   * with pauses of 1, 2, 4 … 60 seconds. A turn that starts before, for a message, forgets the time. Call it
   * before the turn ends: the agent may end then without having ended the task. Resolves when it is recorded. Throws
   * `RangeError` for a time that is none, or is after the year 9999.
   */
  wakeAt(time: Date | number | undefined): Promise<void>;
  /**
   * The time that a turn before asked for with `wakeAt`, if this one started for a message or `server.wake()` instead and
   * so forgets it: `await wakeAt(turn.replacedWake)` keeps it. Undefined if there was none.
   */
  readonly replacedWake: Date | undefined;
  /**
   * Whether no message started this turn: its time came (`wakeAt`), or `server.wake()` was called. `message` is that of
   * the turn before.
   */
  readonly woken: boolean;
  /**
   * Opens a URL to which another system posts one value as JSON, which starts the next turn of this task: at once if it
   * waits, otherwise after the turn that runs. That turn, and later ones, have the value in `callbacks`. Asks for a turn at
   * `expiresAt` too, as `wakeAt` does, unless one was asked for before that time: so the agent may end its turn without
   * having ended the task. Resolves when it is recorded. Needs the option `callbacks` of the server or worker.
   * With `answeredBy`, the URL is a page on which that person answers the question of the turn, and no turn is asked for.
   */
  callback(request: CallbackRequest): Promise<OpenedCallback>;
  /** The values that were posted to the callbacks of this task, by name. Look up with `Object.hasOwn`. */
  readonly callbacks: Readonly<Record<string, ReceivedCallback>>;
  /**
   * Stores a file apart from the task: bytes, a `Blob`, or a stream of any length. Resolves, once it is durable, to the part
   * for an artifact or a message: `artifact('film', await turn.saveFile(createReadStream('film.mp4'), { mediaType: 'video/mp4' }))`.
   * Rejects with what the stream throws, and with `UNAVAILABLE` if the file store fails. Needs the option `files`.
   */
  saveFile(content: FileContent, options?: PartOptions): Promise<Part>;
  /**
   * The file of a part, wherever it is: in the part (`raw`), kept by the server, or at a URL, which is fetched if it is
   * public, up to 10 MiB. Needs the option `files` for all but `raw`.
   */
  file(part: Part): TaskFile;
  /** For `server.wake()`: starts the next turn of this task without a client's message. Keep it from clients. */
  readonly wakeKey: string;
}

const alwaysTask = Symbol.for('batonjs.taskAgent');
const AsyncGeneratorFunction = async function* () {}.constructor;

/** Marks a function that always answers with a task, so that the task exists before the function is called. */
export const taskAgent = (agent: (turn: Turn) => AsyncIterable<TaskUpdate>): Agent =>
  Object.assign((turn: Turn) => agent(turn), { [alwaysTask]: true });

const extensions = Symbol.for('batonjs.extensions');

/** The URIs of the extensions that `extend` of `@batonjs/extensions` put around the agent. */
export const extensionsOf = (
  agent: Agent & { readonly [extensions]?: readonly string[] },
): readonly string[] => agent[extensions] ?? [];

/** Whether the agent answers with tasks only: an `async function*`, or marked by `taskAgent`. */
export const isTaskAgent = (agent: Agent): boolean =>
  agent instanceof AsyncGeneratorFunction || alwaysTask in agent;
