import { type Fact, historyOf, type State } from '@batonjs/lifecycle';
import type { Json, Message, Part, TaskState, TaskStatus } from '@batonjs/protocol';
import type { Form } from '@batonjs/protocol/forms';
import { textOf } from '@batonjs/protocol/parts';

/** The statuses of a task: `created` waits for an agent, `in_progress` has one, the others are final. */
export const statuses = ['created', 'in_progress', 'completed', 'failed', 'canceled'] as const;

/** The status of a task. */
export type GatewayStatus = (typeof statuses)[number];

/** Why a task failed. */
export interface GatewayError {
  /** UPPER_SNAKE_CASE: the agent's own code, or one of the gateway's, such as `INVALID_INPUT` or `TIMEOUT`. */
  readonly code: string;
  readonly message: string;
}

/** A question that a task waits with. Answer it with `POST /task/{taskId}/input`. */
export type GatewayForm = Form;

/** How a task stands. */
export interface TaskProgressReport {
  readonly status: GatewayStatus;
  /** Percent, 0 to 100; only `in_progress`, if the agent reports progress. */
  readonly progress?: number;
  /** What the agent made: of each task that is `completed`, and of others where it made something before. */
  readonly result?: Json;
  /** What the agent said with its result, its question or its end. Of a task that `failed`, `error` says why. */
  readonly message?: string;
  /** Only of a task that `failed`. */
  readonly error?: GatewayError;
  /** Only of a task that is `in_progress` and waits for an answer. */
  readonly form?: GatewayForm;
  /** Grows with every update of the task. Numbers may be left out between two updates. */
  readonly sequence: number;
}

/** A task as `GET /task/{taskId}` shows it. */
export interface GatewayTask extends TaskProgressReport {
  readonly taskId: string;
  readonly type: string;
  readonly data: Readonly<Record<string, Json>>;
}

/** One transition of a task, as `GET /task/{taskId}/history` lists it. */
export interface GatewayTransition extends TaskProgressReport {
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string;
  /** What the agent said with it. */
  readonly message?: string;
}

/** An update of a task, as the WebSocket `/task/updates` sends it. */
export interface TaskUpdate extends TaskProgressReport {
  readonly event: 'task_update';
  readonly taskId: string;
}

/** The member of a status message's metadata that holds the gateway's note. */
const NOTE = 'https://batonjs.dev/task-gateway/v1';

/** What the gateway keeps of a status besides its text. */
export interface Note {
  /** The task at the agent. */
  readonly agentTaskId?: string;
  readonly progress?: number;
  readonly result?: Json;
  readonly error?: GatewayError;
  readonly form?: GatewayForm;
  readonly question?: QuestionName;
}

/** Names the question that a task waits with, however often it is written. */
export interface QuestionName {
  /** Differs for each question. */
  readonly id: string;
  /** The agent's own name for this status. Undefined if that cannot be told from another status. */
  readonly status?: string;
}

/** A status message with a note. */
export const noteMessage = (text: string, note: Note): Message => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_AGENT',
  // A message has at least one part.
  parts: [text === '' ? emptyPart : { text }],
  metadata: { [NOTE]: JSON.parse(JSON.stringify(note)) },
});

const emptyPart: Part = { data: {} };

/** The note in a status message; an empty one if the server wrote the message. */
export const noteIn = (message: Message | undefined): Note => (message?.metadata?.[NOTE] ?? {}) as Note;

/** The status of a task by the state of A2A. */
const statusOf: Readonly<Record<TaskState, GatewayStatus>> = {
  TASK_STATE_UNSPECIFIED: 'created',
  TASK_STATE_SUBMITTED: 'created',
  TASK_STATE_WORKING: 'in_progress',
  TASK_STATE_INPUT_REQUIRED: 'in_progress',
  TASK_STATE_AUTH_REQUIRED: 'in_progress',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
};

/** The states of A2A that a status stands for. */
export const statesOf = (status: GatewayStatus): TaskState[] =>
  (Object.keys(statusOf) as TaskState[]).filter(
    (state) => statusOf[state] === status && state !== 'TASK_STATE_UNSPECIFIED',
  );

/** How a task stands after the status at a position. */
export function reportOf({ state, message }: TaskStatus, sequence: number): TaskProgressReport {
  const status = statusOf[state];
  const { progress, result, error, form } = noteIn(message);
  if (status === 'created') return { status, sequence };
  const report: TaskProgressReport = {
    status,
    ...(status === 'in_progress' && progress !== undefined && { progress }),
    ...((result !== undefined || status === 'completed') && { result: result ?? {} }),
    ...(status === 'failed' && { error: error ?? serverError(message) }),
    ...(status === 'in_progress' && form && { form }),
    sequence,
  };
  const words = wordsOf(report, textOf(message));
  return words ? { ...report, message: words } : report;
}

/** What was said with a result, a question or an end, unless another member says it. */
export const wordsOf = ({ status, form, result }: TaskProgressReport, words = ''): string | undefined =>
  (form && form.title !== words) ||
  ((status === 'completed' || status === 'canceled') && Object(result).text !== words)
    ? words
    : undefined;

/** The error of a task that the server ended: a deadline passed, or its processes died. */
function serverError(message: Message | undefined): GatewayError {
  for (const part of message?.parts ?? []) {
    const { code, message: why } = Object('data' in part ? part.data : undefined) as Record<string, unknown>;
    if (code === 'DEADLINE_EXCEEDED') return { code: 'TIMEOUT', message: 'The task took too long' };
    if (typeof code === 'string' && typeof why === 'string') return { code, message: why };
  }
  return { code: 'INTERNAL_ERROR', message: 'The task failed' };
}

/** The first message of a task: its id, type and data. */
export type Assignment = Pick<GatewayTask, 'taskId' | 'type' | 'data'>;

/** What a task was created with, from the first message of its log. */
export const assignmentIn = ({ messageId, contextId = '', parts }: Message): Assignment => {
  const [part] = parts;
  const data = part && 'data' in part ? part.data : {};
  return { taskId: messageId, type: contextId, data: data as Readonly<Record<string, Json>> };
};

/** The status that a fact sets; undefined for a fact that changes none. */
export const statusIn = (fact: Fact): TaskStatus | undefined =>
  fact.type === 'status-changed'
    ? fact.status
    : fact.type === 'task-created'
      ? { state: 'TASK_STATE_SUBMITTED', timestamp: fact.at }
      : undefined;

/**
 * Whether the server wrote the status as it continued the turn of a process that left the task waiting: nothing changed
 * for clients. The gateway itself says something with each of its statuses.
 */
export const isContinued = ({ state, message }: TaskStatus): boolean =>
  state === 'TASK_STATE_WORKING' && message === undefined;

/** The status that clients see: that of a task which was continued is the one before. */
export function shownStatus(state: State, status: TaskStatus): TaskStatus {
  if (!isContinued(status)) return status;
  const message = historyOf(state).findLast(({ role }) => role === 'ROLE_AGENT');
  return { ...status, ...(message && { message }) };
}

/** The transition that a fact is; undefined for a fact that changes nothing for clients. */
export function transitionIn(fact: Fact, sequence: number): GatewayTransition | undefined {
  const status = statusIn(fact);
  if (!status || isContinued(status)) return undefined;
  const message = textOf(status.message);
  return { ...reportOf(status, sequence), time: fact.at, ...(message && { message }) };
}

/** Whether nothing follows a status. */
export const isFinal = ({ status }: Pick<TaskProgressReport, 'status'>): boolean =>
  status !== 'created' && status !== 'in_progress';
