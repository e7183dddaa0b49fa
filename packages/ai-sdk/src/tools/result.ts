import type { AgentReply } from '@batonjs/client';
import { contentOf, taskContent } from '@batonjs/client/answers';
import type { Json } from '@batonjs/protocol';

/**
 * What a tool of `a2aTools` gives. A model reads it as JSON. An agent that FAILED gives a result as well: the model may
 * try something else.
 */
export interface A2AToolResult {
  /** How the task ended; `input-required` where the agent asks something; `message` where it only answered. */
  readonly state:
    | 'completed'
    | 'failed'
    | 'canceled'
    | 'rejected'
    | 'input-required'
    | 'auth-required'
    | 'message';
  /** What the agent made: the texts of its artifacts, also before a question or a failure. Of an answer, its text. */
  readonly text: string;
  /** The data of the artifacts; a list where there are several. */
  readonly data?: Json;
  /** The files of the artifacts and of the status, without their bytes. */
  readonly files?: readonly { readonly name?: string; readonly mediaType?: string; readonly url?: string }[];
  /** What the agent said of it: its last words, its question, or why it failed. */
  readonly message?: string;
  /** The data of the status, such as the form of a question; a list where there are several. */
  readonly messageData?: Json;
  /** Of a task. `answer` tools need it. */
  readonly taskId?: string;
  readonly contextId?: string;
}

export function toolResult({ task, message }: AgentReply): A2AToolResult {
  const { made, said } = task
    ? taskContent(task)
    : { made: contentOf(message?.parts ?? []), said: contentOf() };
  const files = [...made.files, ...said.files];
  return {
    state: task ? (shortStates[task.status.state] ?? 'failed') : message ? 'message' : 'failed',
    text: made.text,
    ...(made.data.length > 0 && { data: oneOrAll(made.data) }),
    ...(files.length > 0 && { files }),
    ...(said.text && { message: said.text }),
    ...(said.data.length > 0 && { messageData: oneOrAll(said.data) }),
    ...(task && { taskId: task.id }),
    ...(task?.contextId && { contextId: task.contextId }),
  };
}

const oneOrAll = (data: readonly Json[]): Json => (data.length === 1 ? data[0]! : [...data]);

const shortStates: Readonly<Record<string, A2AToolResult['state']>> = {
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_REJECTED: 'rejected',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_AUTH_REQUIRED: 'auth-required',
};
