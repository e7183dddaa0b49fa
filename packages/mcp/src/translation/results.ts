import { type AgentReply, textOf } from '@batonjs/client';
import { awaitedCalls } from '@batonjs/client/answers';
import { errorOf, formOf } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { contentOf, contentOfArtifacts } from './content.ts';
import { questionText } from './question.ts';
import { CONTINUE_TASK } from './tool-list.ts';

/** The name in `_meta` of a result under which the task stands: `{ id, contextId, state }`. */
export const TASK_META = 'batonjs.dev/task';

/** A result of text. */
export const textResult = (text: string, isError = false): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(isError && { isError }),
});

/** The result of a tool for the reply of an agent: of a task that ended or waits, or a message. */
export function resultOf(reply: AgentReply): CallToolResult {
  const { task, message } = reply;
  if (!task) {
    const { parts, messageId } = message!;
    return { content: parts.map((part, n) => contentOf(part, `a2a:${encodeURIComponent(messageId)}/${n}`)) };
  }
  const { id, contextId, status } = task;
  const meta = { id, ...(contextId && { contextId }), state: status.state };
  return { ...resultOfTask(task), _meta: { [TASK_META]: meta } };
}

function resultOfTask(task: Task): CallToolResult {
  const { message, state } = task.status;
  const text = textOf(message);
  switch (state) {
    case 'TASK_STATE_COMPLETED':
      return completedResult(task);
    case 'TASK_STATE_INPUT_REQUIRED':
      return waitingResult(task);
    case 'TASK_STATE_AUTH_REQUIRED':
      return textResult(
        `The agent needs an authorization before it can go on${text && `: ${text}`}\n\n` +
          `Once it is given, ${howToContinue(task)}.`,
        true,
      );
    case 'TASK_STATE_FAILED':
    case 'TASK_STATE_REJECTED': {
      const code = errorOf(task)?.code;
      const what = state === 'TASK_STATE_FAILED' ? 'The task failed' : 'The agent rejected the task';
      return textResult(`${what}${code ? ` (${code})` : ''}${text && `: ${text}`}`, true);
    }
    case 'TASK_STATE_CANCELED':
      return textResult(`The task was canceled${text && `: ${text}`}`, true);
    default:
      return textResult(`The task is still running. To wait for its result, ${howToContinue(task)}.`);
  }
}

function completedResult({ id, artifacts = [], status: { message } }: Task): CallToolResult {
  const content = contentOfArtifacts(id, artifacts);
  const said = message?.parts.map((part, n) => contentOf(part, `a2a:${encodeURIComponent(id)}/status/${n}`));
  // The output of a typed skill is the data of the artifact `result`.
  const output = artifacts
    .find(({ name }) => name === 'result')
    ?.parts.flatMap((part) => ('data' in part ? [part.data] : []))[0];
  const isObject = typeof output === 'object' && output !== null && !Array.isArray(output);
  return {
    content: [...(said ?? []), ...content],
    ...(isObject && { structuredContent: output as Record<string, unknown> }),
  };
}

/** Whether a task waits until calls of tools are approved. */
export const asksApproval = (task: Task): boolean =>
  awaitedCalls(task).some(({ needs }) => needs === 'approval');

/** The question of a task for a client that cannot elicit, and how to answer it. */
function waitingResult(task: Task): CallToolResult {
  if (asksApproval(task))
    return textResult(
      `${questionText(task)}\n\nThe agent waits until the user approves. Only if this server lets the model pass that on: ` +
        `${howToContinue(task)} and the user's "answer". Alone, ${CONTINUE_TASK} waits.`,
    );
  const schema = formOf(task)?.schema;
  const how = schema
    ? `"values" that fit this JSON Schema: ${JSON.stringify(schema)}`
    : 'the user\'s "answer"';
  return textResult(
    `${questionText(task)}\n\nThe agent waits for an answer: ${howToContinue(task)} and ${how}.`,
  );
}

const howToContinue = ({ id }: Task): string =>
  `call the tool ${CONTINUE_TASK} with the taskId ${JSON.stringify(id)}`;
