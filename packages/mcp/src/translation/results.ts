import { A2AError, type AgentReply, ClientError, dataOf } from '@batonjs/client';
import { awaitedCalls, taskContent } from '@batonjs/client/answers';
import { errorOf, formOf, SkillError } from '@batonjs/extensions/client';
import type { Artifact, Json, Part, Task } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { questionText } from './question.ts';
import { CONTINUE_TASK } from './tool-list.ts';

/** The name in `_meta` of a result under which the task stands: `{ id, contextId, state }`. */
export const TASK_META = 'batonjs.dev/task';

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

type Content = CallToolResult['content'][number];

/** A part has one of these. */
interface AnyPart {
  readonly text?: string;
  readonly url?: string;
  readonly raw?: string;
  readonly data?: Json;
}

/**
 * The content of a part. Text stays text, data becomes text with JSON, bytes become an image, audio or an embedded
 * resource, by their media type, and a URL becomes a link. `uri` names the embedded resource.
 */
export function contentOf(part: Part, uri: string): Content {
  const { text, url, raw: data, data: json = null } = part as AnyPart;
  const { mediaType: mimeType, filename: name } = part;
  if (text !== undefined) return { type: 'text', text };
  if (url !== undefined)
    return { type: 'resource_link', uri: url, name: name ?? url, ...(mimeType && { mimeType }) };
  if (data !== undefined) {
    if (mimeType?.startsWith('image/')) return { type: 'image', data, mimeType };
    if (mimeType?.startsWith('audio/')) return { type: 'audio', data, mimeType };
    return { type: 'resource', resource: { uri, blob: data, ...(mimeType && { mimeType }) } };
  }
  return { type: 'text', text: JSON.stringify(json) };
}

/** The content of all artifacts of a task, in order. The chunks of a text are one text. */
export const contentOfArtifacts = (taskId: string, artifacts: readonly Artifact[]): Content[] =>
  artifacts.flatMap(({ artifactId, parts }) =>
    joined(parts).map((part, n) =>
      contentOf(part, `a2a:${encodeURIComponent(taskId)}/${encodeURIComponent(artifactId)}/${n}`),
    ),
  );

/** The parts with texts that follow each other, of one media type and file, in one: an agent that streams sends chunks. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (last && isText(last) && isText(part) && isOfSameFile(last, part))
      all[all.length - 1] = { ...last, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}

type TextPart = Extract<Part, { readonly text: string }>;

const isOfSameFile = (one: Part, other: Part): boolean =>
  one.mediaType === other.mediaType && one.filename === other.filename;

const isText = (part: Part): part is TextPart => typeof (part as AnyPart).text === 'string';

/** Sees errors that clients are not shown. */
export type OnError = (error: unknown) => void;

/** What a client may read of an error. Everything else goes to `onError`. */
export function describeFailure(error: unknown, onError: OnError): string {
  if (SkillError.is(error)) {
    const issues = error.issues.map(({ path, message }) => `\n${path ? `${path}: ` : ''}${message}`);
    return `${error.message}${issues.join('')}`;
  }
  if (A2AError.is(error)) {
    if (error.reason === 'UNAUTHENTICATED' || error.reason === 'PERMISSION_DENIED')
      return `The agent refused the credentials of this MCP server (${error.reason})`;
    if (error.reason !== 'INTERNAL_ERROR')
      return `The agent refused the call (${error.reason}): ${error.message}`;
  }
  onError(error);
  if (ClientError.is(error)) return `The agent cannot be called (${error.code})`;
  return 'Internal error';
}

/** The result of a tool whose call failed. Errors of the protocol are thrown instead. */
export function failedResult(error: unknown, onError: OnError): CallToolResult {
  if (error instanceof ProtocolError) throw error;
  return textResult(describeFailure(error, onError), true);
}

/** The error of a method other than a tool call. */
export function protocolError(error: unknown, onError: OnError): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (A2AError.is(error, 'TASK_NOT_FOUND')) return invalidParams('Task not found');
  return new ProtocolError(codeOf(error), describeFailure(error, onError));
}

/** The refusal of a request whose parameters are wrong: -32602. */
export const invalidParams = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** Spec: MCP 2025-11-25, Tasks: a cursor that is none, and a task that ended, are wrong parameters. */
function codeOf(error: unknown): ProtocolErrorCode {
  if (!A2AError.is(error)) return ProtocolErrorCode.InternalError;
  const isOfParams = error.reason === 'INVALID_PARAMS' || error.reason === 'TASK_NOT_CANCELABLE';
  return isOfParams ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest;
}
