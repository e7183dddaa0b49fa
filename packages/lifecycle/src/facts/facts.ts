import type { Artifact, Message, SendMessageConfiguration, TaskState, TaskStatus } from '@batonjs/protocol';
import type { Question, QuestionLink } from './question-link.ts';

/** Format of the facts this release writes. A log with a higher number is refused, never misread. */
export const FACT_FORMAT = 1;

/** Free-form JSON members, as in the protocol's `metadata`. */
export type Metadata = Record<string, unknown>;

interface Written {
  readonly format: typeof FACT_FORMAT;
  /** When it happened: ISO 8601, UTC, milliseconds. Never earlier than the fact before it, even if a clock goes back. */
  readonly at: string;
}

/** A client's message entered the log. Always the first fact of a log. */
export interface MessageReceived extends Written {
  readonly type: 'message-received';
  /** Carries `contextId`; carries `taskId` if the client named a task. */
  readonly message: Message;
  readonly configuration?: SendMessageConfiguration;
  readonly metadata?: Metadata;
  /** URIs of the extensions the client activated. */
  readonly extensions?: readonly string[];
  /** Non-secret claims about the caller that sent it. */
  readonly caller?: Metadata;
  /** The `traceparent` of the request that sent it, for telemetry. At most 55 characters. */
  readonly traceparent?: string;
  /** No turn takes it before this time: ISO 8601, UTC, milliseconds. */
  readonly notBefore?: string;
  /** It was accepted on the condition that the task was at this generation. */
  readonly ifGeneration?: number;
  /** How urgent the client says it is: 1 to 9. */
  readonly priority?: number;
  /** The id of the skill that it named. */
  readonly skill?: string;
  /** The labels that the task begins with. */
  readonly labels?: readonly string[];
  /** Of the first message of a fork: the task and the position up to which its log was taken, and who asked. */
  readonly forked?: { readonly taskId: string; readonly position: number; readonly by?: string };
}

/** The log became a task that clients can see. */
export interface TaskCreated extends Written {
  readonly type: 'task-created';
  readonly taskId: string;
  readonly contextId: string;
}

/** The agent answered with a message. The log closes and never becomes a task. */
export interface Answered extends Written {
  readonly type: 'answered';
  readonly message: Message;
}

/** The agent was started, or started again (`attempt` > 1), for these messages. */
export interface TurnStarted extends Written {
  readonly type: 'turn-started';
  readonly turn: number;
  readonly attempt: number;
  /** The messages of the turn: in a later attempt also those that the attempts before it took while they ran. */
  readonly messageIds: readonly string[];
  /** No other turn that could have ended the process ran beside it when it started. */
  readonly alone?: true;
  /** The version of the program that runs it, if it has one. */
  readonly version?: string;
}

/** The running turn took a message that arrived while it ran. */
export interface MessageTaken extends Written {
  readonly type: 'message-taken';
  readonly turn: number;
  readonly messageId: string;
}

export interface TurnEnded extends Written {
  readonly type: 'turn-ended';
  readonly turn: number;
}

/** The server asks for another turn without a client's message, for example after an OAuth callback. */
export interface Woken extends Written {
  readonly type: 'woken';
  readonly metadata?: Metadata;
}

/** The turn asked for another one at a time, in place of what it asked for before. */
export interface WakeSet extends Written {
  readonly type: 'wake-set';
  readonly turn: number;
  /** ISO 8601, UTC, milliseconds. Absent: at no time. */
  readonly time?: string;
  /** How many turns in a row asked for a time that was not in the future, this one included. Absent: not this one. */
  readonly immediateWakes?: number;
}

export interface StatusChanged extends Written {
  readonly type: 'status-changed';
  readonly status: TaskStatus;
  /** Travels with the event, not with the task. */
  readonly metadata?: Metadata;
  /** Of a question, what no client sees. */
  readonly question?: Question;
}

export interface ArtifactUpdated extends Written {
  readonly type: 'artifact-updated';
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
  /** Travels with the event, not with the task. */
  readonly metadata?: Metadata;
}

export interface CancelRequested extends Written {
  readonly type: 'cancel-requested';
  readonly metadata?: Metadata;
}

/** A step of the open turn finished; a later attempt of the turn reuses its result. */
export interface StepCompleted extends Written {
  readonly type: 'step-completed';
  readonly turn: number;
  readonly name: string;
  readonly result: unknown;
  /** `task`: every later turn of the task reuses it, too. */
  readonly keep?: 'task';
  readonly usage?: Usage;
}

/** What calls of a model used, named as `gen_ai.usage` of OpenTelemetry. Absent: not known. */
export interface Usage {
  readonly model: string;
  /** Default 1. */
  readonly calls?: number | undefined;
  /** All that were read, those from a cache included. */
  readonly inputTokens?: number | undefined;
  /** All that were written, those of reasoning included. */
  readonly outputTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  /** What they cost, in `currency`: from 0 to 1,000,000,000, of which sums keep millionths. */
  readonly cost?: number | undefined;
  /** Given with `cost`: three capital letters, such as `USD`. */
  readonly currency?: string | undefined;
}

/** Money by currency, in millionths of it: whole numbers, so that sums do not drift. */
export type Costs = Readonly<Record<string, number>>;

/** What calls of models used together. */
export interface Used {
  /** Read and written. */
  readonly tokens: number;
  readonly costs: Costs;
}

/** One try of a step of the open turn failed. */
export interface StepFailed extends Written {
  readonly type: 'step-failed';
  readonly turn: number;
  readonly name: string;
  /** Which try it was, from 1. Later attempts of the turn go on counting. */
  readonly attempt: number;
  readonly message: string;
  /** When the next try is due: ISO 8601, UTC, milliseconds. Absent: it was the last. */
  readonly retryAt?: string;
}

/** The agent threw. Written for those who run the agent: no client sees it. */
export interface TurnFailed extends Written {
  readonly type: 'turn-failed';
  readonly turn: number;
  readonly attempt: number;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  /** When the next attempt of the turn is due: ISO 8601, UTC, milliseconds. Absent: it was the last. */
  readonly retryAt?: string;
}

/** The open turn gives its process back. Its next attempt starts at a time: ISO 8601, UTC, milliseconds. */
export interface TurnPaused extends Written {
  readonly type: 'turn-paused';
  readonly turn: number;
  readonly until: string;
}

/** The agent remembers values until its task is deleted, or forgets some. No client sees them. */
export interface MemoryChanged extends Written {
  readonly type: 'memory-changed';
  readonly changes: Readonly<Record<string, unknown>>;
  readonly removed?: readonly string[];
}

/** Lines that the agent logged in a turn. Written for those who run the agent: no client sees them. */
export interface TurnLogged extends Written {
  readonly type: 'turn-logged';
  readonly turn: number;
  readonly attempt: number;
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** No more are kept of this task: it has reached the limits. */
  readonly full?: true;
}

/** The task has these labels from now on, in place of those before. Among them are those with which it began. */
export interface LabelsSet extends Written {
  readonly type: 'labels-set';
  readonly labels: readonly string[];
}

/** The turn asked for a value from outside. */
export interface CallbackOpened extends Written {
  readonly type: 'callback-opened';
  readonly name: string;
  /** Unique within the task. */
  readonly id: string;
  readonly turn: number;
  readonly secretHash?: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly expiresAt: string;
  /** The JSON Schema of the value. */
  readonly schema?: unknown;
  readonly answers?: QuestionLink;
}

/** The value came. It asks for another turn, as a wake does. */
export interface CallbackReceived extends Written {
  readonly type: 'callback-received';
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
}

/** A task that this one started at another agent, as far as this one knows it. */
export interface Child {
  /** The name of the agent, as clients see it. */
  readonly agent: string;
  /** The task at the agent; absent while it is not known whether the agent received the message. */
  readonly taskId?: string;
  readonly state?: TaskState;
  /** What a later turn needs to go on with the child. Clients do not see it. */
  readonly record?: unknown;
  /** What its agent says that it used in the end, with the tasks that it started. */
  readonly usage?: Used | undefined;
}

/** A task starts one at another agent, or learned something about it. Replaces the fact before it. */
export interface ChildUpdated extends Written {
  readonly type: 'child-updated';
  /** Names the child within this task. */
  readonly name: string;
  readonly child: Child;
}

/** Something that happened to one task. The task is the log of its facts. */
export type Fact =
  | MessageReceived
  | TaskCreated
  | Answered
  | TurnStarted
  | MessageTaken
  | TurnEnded
  | Woken
  | WakeSet
  | StatusChanged
  | ArtifactUpdated
  | CancelRequested
  | StepCompleted
  | StepFailed
  | TurnFailed
  | TurnPaused
  | MemoryChanged
  | TurnLogged
  | LabelsSet
  | CallbackOpened
  | CallbackReceived
  | ChildUpdated;

/** The fact of this type. */
export type FactOf<Type extends Fact['type']> = Extract<Fact, { readonly type: Type }>;

/** One line that an agent logged, as it is kept. */
export interface LogLine {
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /** As JSON. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** It was longer: only the beginning of its text is kept, or not its fields. */
  readonly isCut?: true;
}
