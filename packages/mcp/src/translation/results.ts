import { type AgentReply, dataOf } from '@batonjs/client';
import { awaitedCalls, taskContent } from '@batonjs/client/answers';
import { errorOf, formOf } from '@batonjs/extensions/client';
import type { Task } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
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

/** What was said, and what was made, in every state. */
function resultOfTask(task: Task): CallToolResult {
  const { state, message } = task.status;
  const made = contentOfArtifacts(task.id, task.artifacts ?? []);
  if (state === 'TASK_STATE_COMPLETED') {
    const uri = `a2a:${encodeURIComponent(task.id)}/status`;
    const said = message?.parts.map((part, n) => contentOf(part, `${uri}/${n}`)) ?? [];
    return { content: [...said, ...made], ...structured(task) };
  }
  const { content, ...rest } = wordsOf(task);
  const soFar = made.length > 0 ? textResult('What the agent has made so far:').content : [];
  return { content: [...content, ...soFar, ...made], ...rest };
}

/** What a task says that has not completed. */
function wordsOf(task: Task): CallToolResult {
  const { state } = task.status;
  const { text } = taskContent(task).said;
  switch (state) {
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
      return textResult(
        `The task is still running. To wait for its result, ${howToContinue(task)}.${text && `\n\nIt says: ${text}`}`,
      );
  }
}

/** The output of a typed skill is the data of the artifact `result`. */
function structured({ artifacts = [] }: Task): Pick<CallToolResult, 'structuredContent'> {
  const output = dataOf(artifacts.find(({ name }) => name === 'result'));
  return isObject(output) ? { structuredContent: output } : {};
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
