import { type Fact, historyOf, type State } from '@batonjs/lifecycle';
import type { Json, Message, TaskState, TaskStatus } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import type {
  GatewayError,
  GatewayStatus,
  GatewayTask,
  GatewayTransition,
  TaskProgressReport,
} from './gateway-task.ts';
import { noteIn } from './note.ts';

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
