import { type HttpReply, jsonBody } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { Authenticate, Caller, Handle, HttpExchange, Log } from '@batonjs/server';
import type { ReadTask, TaskLog } from '../tasks/task-log.ts';
import type { TaskOperations } from '../tasks/task-operations.ts';
import { waitForUpdate } from '../tasks/wait-for-update.ts';
import { errorReply, GatewayRefusal, isFault, jsonReply, toWireError } from './gateway-error.ts';
import {
  checkQuery,
  toFilter,
  toFormInput,
  toHistoryRange,
  toSubmission,
  toTaskId,
  toWait,
} from './task-request.ts';

/** What the handler needs. */
export interface HandlerSettings {
  readonly log: Log;
  readonly tasks: TaskLog;
  readonly operations: TaskOperations;
  readonly authenticate: Authenticate | undefined;
  readonly bodyBytes: number;
  readonly isOpen: () => boolean;
}

/** The caller of a gateway that does not ask who calls. */
const anyCaller: Caller = { scope: 'anyone' };

/** Who sends a request. Throws `UNAUTHENTICATED` if `authenticate` does not know. */
export async function callerOf(
  request: Parameters<Authenticate>[0],
  authenticate: Authenticate | undefined,
): Promise<Caller> {
  if (!authenticate) return anyCaller;
  const caller = await authenticate(request);
  if (!caller) throw new A2AError('UNAUTHENTICATED');
  if (typeof caller.scope !== 'string' || caller.scope === '')
    throw new TypeError('`authenticate` must return a caller whose `scope` is a string that is not empty');
  return caller;
}

type Route = (
  request: { readonly exchange: HttpExchange; readonly caller: Caller; readonly taskId: string },
  settings: HandlerSettings,
) => Promise<HttpReply>;

/** The routes by their pattern, each with its methods. */
const routes: readonly (readonly [RegExp, Readonly<Record<string, Route>>])[] = [
  [/^\/task\/?$/, { POST: submit, GET: list }],
  [/^\/task\/([^/]+)$/, { GET: get }],
  [/^\/task\/([^/]+)\/cancel$/, { POST: cancel }],
  [/^\/task\/([^/]+)\/input$/, { POST: input }],
  [/^\/task\/([^/]+)\/history$/, { GET: history }],
];

/** Answers the requests of the task service. */
export const createHandler =
  (settings: HandlerSettings): Handle =>
  async (exchange) => {
    try {
      return await answer(exchange, settings);
    } catch (error) {
      const shown = toWireError(error);
      const { method, path } = exchange;
      if (isFault(shown)) settings.log('error', 'A request failed', { method, path, err: error });
      return errorReply(shown);
    }
  };

async function answer(exchange: HttpExchange, settings: HandlerSettings): Promise<HttpReply> {
  const { method, path, refusal } = exchange;
  if (refusal) throw refusal;
  const route = routes.find(([pattern]) => pattern.test(path));
  if (!route) throw new GatewayRefusal('NOT_FOUND', 'There is nothing at this path');
  const [pattern, methods] = route;
  if (path.endsWith('/updates'))
    throw new GatewayRefusal('NOT_FOUND', 'Updates are sent over a WebSocket only');
  const perform = Object.hasOwn(methods, method) ? methods[method] : undefined;
  const allow = Object.keys(methods).join(', ');
  if (!perform) throw new GatewayRefusal('METHOD_NOT_ALLOWED', `Use ${allow}`, allow);
  const caller = await callerOf(exchange, settings.authenticate);
  const [, segment] = pattern.exec(path) ?? [];
  const taskId = segment === undefined ? '' : decodeSegment(segment);
  if (!settings.isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  return perform({ exchange, caller, taskId }, settings);
}

/** The id in a path. An id that no task can have is one that no task has. */
function decodeSegment(segment: string): string {
  try {
    return toTaskId(decodeURIComponent(segment));
  } catch {
    throw notFound();
  }
}

const notFound = (): GatewayRefusal => new GatewayRefusal('TASK_NOT_FOUND', 'There is no such task');

async function submit({ exchange, caller }: Parameters<Route>[0], settings: HandlerSettings) {
  checkQuery(exchange.query, []);
  const submission = toSubmission(await readJson(exchange, settings));
  const { task, isNew } = await settings.operations.submit(caller, submission);
  const location = `${exchange.baseUrl ?? ''}/task/${encodeURIComponent(task.taskId)}`;
  return jsonReply(isNew ? 202 : 200, task, { location });
}

async function list({ exchange, caller }: Parameters<Route>[0], { tasks }: HandlerSettings) {
  const { entries, cursor } = await tasks.list(caller.scope, toFilter(exchange.query));
  return jsonReply(200, { tasks: entries, ...(cursor && { cursor }) });
}

async function get({ exchange, caller, taskId }: Parameters<Route>[0], { tasks }: HandlerSettings) {
  const wait = toWait(exchange.query);
  const address = tasks.addressOf(caller.scope, taskId);
  const read = wait
    ? await waitForUpdate(tasks, address, { ...wait, signal: exchange.signal })
    : await tasks.read(address);
  return jsonReply(200, existing(read));
}

async function cancel({ exchange, caller, taskId }: Parameters<Route>[0], settings: HandlerSettings) {
  checkQuery(exchange.query, []);
  const address = settings.tasks.addressOf(caller.scope, taskId);
  const before = existing(await settings.tasks.read(address));
  if (before.status === 'canceled') return jsonReply(200, before);
  try {
    await settings.operations.cancel(caller, taskId);
  } catch (error) {
    if (!A2AError.is(error, 'TASK_NOT_CANCELABLE')) throw error;
    const { status } = existing(await settings.tasks.read(address));
    throw new GatewayRefusal('TASK_NOT_CANCELABLE', `The task is ${status}`);
  }
  return jsonReply(200, existing(await settings.tasks.read(address)));
}

async function input({ exchange, caller, taskId }: Parameters<Route>[0], settings: HandlerSettings) {
  checkQuery(exchange.query, []);
  const { formId, values } = toFormInput(await readJson(exchange, settings));
  const address = settings.tasks.addressOf(caller.scope, taskId);
  const task = existing(await settings.tasks.read(address));
  if (!task.form)
    throw new GatewayRefusal('INPUT_NOT_EXPECTED', `The task is ${task.status} and asks nothing`);
  if (formId !== undefined && formId !== task.form.formId)
    throw new GatewayRefusal('INPUT_NOT_EXPECTED', 'The task waits for another form');
  await settings.operations.answer(caller, task, values);
  return jsonReply(202, existing(await settings.tasks.read(address)));
}

async function history({ exchange, caller, taskId }: Parameters<Route>[0], { tasks }: HandlerSettings) {
  const { after, limit } = toHistoryRange(exchange.query);
  const address = tasks.addressOf(caller.scope, taskId);
  existing(await tasks.read(address));
  const { transitions, next } = await tasks.history(address, after, limit);
  return jsonReply(200, { taskId, transitions, ...(next !== undefined && { next }) });
}

function existing(read: ReadTask | undefined): ReadTask['task'] {
  if (read) return read.task;
  throw notFound();
}

/** Nesting of a body. The message around the data of a task adds a few levels. */
const maxDepth = 64;

async function readJson(
  { headers, readBody }: HttpExchange,
  { bodyBytes }: HandlerSettings,
): Promise<unknown> {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
  if (!/^application\/([\w.-]+\+)?json$/i.test(mediaType.trim()))
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json');
  const tooLarge = () => new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${bodyBytes} bytes`);
  if (Number(headers['content-length']) > bodyBytes) throw tooLarge();
  // The caller is authenticated by now, so a long body needs no further question.
  const body = await readBody(bodyBytes, async () => {}).catch(() => {
    throw new A2AError('PARSE_ERROR', 'The body ended too early');
  });
  if (!body || 'longerThan' in body) throw tooLarge();
  if ('encoding' in body)
    throw new A2AError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body is compressed (${body.encoding}): send it as it is`,
    );
  return jsonBody('bytes' in body ? { text: decode(body.bytes) } : body, { maxDepth })?.json();
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new A2AError('PARSE_ERROR', 'The body is not UTF-8');
  }
}
