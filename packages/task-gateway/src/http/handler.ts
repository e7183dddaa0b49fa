import type { HttpReply } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { isJsonType, mediaTypeOf } from '@batonjs/protocol/headers';
import type { Authenticate, Caller, Handle, HttpExchange, Logger } from '@batonjs/server';
import { callerOf as knownCaller, readBody } from '@batonjs/server/adapter';
import { GatewayRefusal, isFault, toWireError, type WireError } from '../tasks/gateway-refusal.ts';
import { type TaskService, taskNotFound, waitForUpdate } from '../tasks/task-service.ts';
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
  readonly logger: Logger;
  readonly service: TaskService;
  readonly authenticate: Authenticate | undefined;
  readonly publicUrl: string | undefined;
  readonly bodyBytes: number;
  readonly isOpen: () => boolean;
  /** Ends requests that wait for an update. */
  readonly closing: AbortSignal;
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
      if (isFault(shown, settings.isOpen()))
        settings.logger('error', 'A request failed', { method, path, err: error });
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
    throw taskNotFound();
  }
}

async function submit({ exchange, caller }: Parameters<Route>[0], settings: HandlerSettings) {
  checkQuery(exchange.query, []);
  const submission = toSubmission(await readJson(exchange, settings));
  const { task, isNew } = await settings.service.submit(caller, submission);
  const base = settings.publicUrl?.replace(/(?<!\/)\/+$/, '') ?? exchange.baseUrl ?? '';
  const location = `${base}/task/${encodeURIComponent(task.taskId)}`;
  return jsonReply(isNew ? 202 : 200, task, { location });
}

async function list({ exchange, caller }: Parameters<Route>[0], { service }: HandlerSettings) {
  return jsonReply(200, await service.tasks.list(caller.scope, toFilter(exchange.query)));
}

async function get({ exchange, caller, taskId }: Parameters<Route>[0], settings: HandlerSettings) {
  const { service, closing } = settings;
  const wait = toWait(exchange.query);
  if (!wait) return jsonReply(200, await service.read(caller, taskId));
  const address = service.tasks.addressOf(caller.scope, taskId);
  const signal = AbortSignal.any([exchange.signal, closing]);
  const read = await waitForUpdate(service.tasks, address, { ...wait, signal });
  if (!read) throw taskNotFound();
  return jsonReply(200, read.task);
}

async function cancel({ exchange, caller, taskId }: Parameters<Route>[0], { service }: HandlerSettings) {
  checkQuery(exchange.query, []);
  return jsonReply(200, await service.cancel(caller, taskId));
}

async function input({ exchange, caller, taskId }: Parameters<Route>[0], settings: HandlerSettings) {
  checkQuery(exchange.query, []);
  const values = toFormInput(await readJson(exchange, settings));
  return jsonReply(202, await settings.service.answer(caller, taskId, values));
}

async function history({ exchange, caller, taskId }: Parameters<Route>[0], { service }: HandlerSettings) {
  const { after, limit } = toHistoryRange(exchange.query);
  await service.read(caller, taskId);
  const address = service.tasks.addressOf(caller.scope, taskId);
  const { transitions, next } = await service.tasks.history(address, after, limit);
  return jsonReply(200, { taskId, transitions, ...(next !== undefined && { next }) });
}

/** The message around the data of a task adds a few levels. Three servers read its values: this, its own, and the agent's. */
const jsonLimits = { jsonDepth: 64, jsonValues: 20_000 };

async function readJson(exchange: HttpExchange, { bodyBytes, logger }: HandlerSettings): Promise<unknown> {
  if (!isJsonType(mediaTypeOf(exchange.headers['content-type'])))
    throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json');
  const options = { limits: { ...jsonLimits, bodyBytes } };
  // The caller is authenticated by now, so a long body needs no further question.
  return (await readBody(exchange, { options, logger, requestId: '', ask: async () => {} }))?.json();
}

/** Who sends a request. Throws as the `callerOf` of a server; all are one caller if the gateway does not ask. */
export const callerOf = async (
  request: Parameters<Authenticate>[0],
  authenticate: Authenticate | undefined,
): Promise<Caller> => (await knownCaller(request, authenticate)) ?? { scope: 'anyone' };

export const errorReply = ({ status, code, message, headers }: WireError): HttpReply =>
  jsonReply(status, { error: { code, message } }, headers);

export const jsonReply = (
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpReply => ({
  status,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  },
  body: JSON.stringify(value),
});
