import type { TaskState } from '@batonjs/protocol';

const anywhere = [
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const satisfies readonly TaskState[];

/**
 * From each state, the states that a task may change to. Repeating a state, with another message, is a change too.
 * No task leaves a terminal state or returns to SUBMITTED. Spec: §3.1.1, §4.1.3.
 */
export const transitions: Readonly<Record<TaskState, readonly TaskState[]>> = {
  TASK_STATE_UNSPECIFIED: [],
  TASK_STATE_SUBMITTED: ['TASK_STATE_SUBMITTED', ...anywhere],
  TASK_STATE_WORKING: anywhere,
  TASK_STATE_INPUT_REQUIRED: anywhere,
  TASK_STATE_AUTH_REQUIRED: anywhere,
  TASK_STATE_COMPLETED: [],
  TASK_STATE_FAILED: [],
  TASK_STATE_CANCELED: [],
  TASK_STATE_REJECTED: [],
};

/** Whether a task may go from one state to the other. */
export const canTransition = (from: TaskState, to: TaskState): boolean => transitions[from].includes(to);

/** Whether the task is finished: it never changes again. */
export const isTerminal = (state: TaskState): boolean =>
  // An agent may name a state that does not exist.
  state !== 'TASK_STATE_UNSPECIFIED' && transitions[state]?.length === 0;

/** Whether the task waits for the client or for an authorization. */
export const isInterrupted = (state: TaskState): boolean =>
  state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
