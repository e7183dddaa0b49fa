import { type AgentReply, dataOf, textOf } from '@batonjs/client';
import type { Json, Part } from '@batonjs/protocol';

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
  /** The texts of the artifacts; without any, that of the status. Of a question, the question. */
  readonly text: string;
  /** The data of the artifacts, or that of the question; a list where there are several. */
  readonly data?: Json;
  /** The files of the artifacts, without their bytes. */
  readonly files?: readonly { readonly name?: string; readonly mediaType?: string; readonly url?: string }[];
  /** Of a task. `answer` tools need it. */
  readonly taskId?: string;
  readonly contextId?: string;
}

/** The reply of an agent as the result of a tool. */
export function toolResult({ task, message }: AgentReply): A2AToolResult {
  if (message) return { state: 'message', ...contentOf(message.parts) };
  if (!task) return { state: 'failed', text: '' };
  const { state, message: said } = task.status;
  const isAsking = state.endsWith('_REQUIRED');
  const parts = isAsking ? [] : (task.artifacts ?? []).flatMap((artifact) => artifact.parts);
  const content = contentOf(parts);
  const { data = dataOf(said) } = content;
  return {
    state: shortStates[state] ?? 'failed',
    ...content,
    text: content.text || textOf(said),
    ...(data !== undefined && { data }),
    taskId: task.id,
    ...(task.contextId && { contextId: task.contextId }),
  };
}

const shortStates: Readonly<Record<string, A2AToolResult['state']>> = {
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_REJECTED: 'rejected',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_AUTH_REQUIRED: 'auth-required',
};

function contentOf(parts: readonly Part[]): Pick<A2AToolResult, 'text' | 'data' | 'files'> {
  const data = parts.flatMap((part) => ('data' in part ? [part.data] : []));
  const files = parts.flatMap((part) => {
    if (!('raw' in part) && !('url' in part)) return [];
    const { filename: name, mediaType } = part;
    return [
      { ...(name && { name }), ...(mediaType && { mediaType }), ...('url' in part && { url: part.url }) },
    ];
  });
  return {
    text: textOf({ parts: [...parts] }),
    ...(data.length > 0 && { data: data.length === 1 ? data[0] : data }),
    ...(files.length > 0 && { files }),
  };
}
