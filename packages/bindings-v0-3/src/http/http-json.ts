import {
  type Call,
  type ClientBinding,
  type HttpRequest,
  httpJsonClient,
  httpJsonServer,
  type IncomingReply,
  type ServerBinding,
  toDetails,
} from '@batonjs/bindings';
import { A2AError, type ErrorReason, errorTable } from '@batonjs/protocol/errors';
import { JSON_TYPE, LEGACY_EXTENSIONS } from '@batonjs/protocol/headers';
import { isObject, tryJson } from '@batonjs/protocol/json';
import type { OperationName } from '@batonjs/protocol/operations';
import {
  downError,
  type ErrorData,
  errorDataFor,
  errorIn,
  nameOf,
  reasonNamed,
  upError,
} from '../translation/error.ts';
import { fileBytesOf } from '../translation/part.ts';
import { V03 } from '../translation/security.ts';
import { identified } from '../translation/task.ts';
import type { FileBytes, Loose, Way } from '../wire/codec.ts';
import type { ReportLoss } from '../wire/loss.ts';
import {
  bodyOf,
  decodeParams,
  decodeResult,
  encodeParams,
  encodeResult,
  v03OperationOf,
} from './operations.ts';

const about = { name: httpJsonServer.name, version: V03, extensionsHeader: LEGACY_EXTENSIONS };

/**
 * The JSON of HTTP+JSON: that of the protocol buffers (`proto`), which other SDKs use, or that of JSON-RPC (`kind`), which
 * the text of the specification shows. Servers and clients accept both.
 */
export type HttpJsonStyle = 'proto' | 'kind';

/** How a server answers on HTTP+JSON. */
interface HttpJsonServerOptions {
  readonly style: HttpJsonStyle;
  readonly isLenient: boolean;
  /** What all clients write for the bytes of files; by default, their `User-Agent` tells. */
  readonly files: FileBytes | undefined;
}

/** HTTP+JSON of 0.3, server half: the paths of 1.0 below `/v1`. It answers a message in the style of the message. Spec: 0.3 §7. */
export function httpJsonServer03(
  report: ReportLoss,
  { style, isLenient, files }: HttpJsonServerOptions,
): ServerBinding {
  const styleOf = (request: HttpRequest): HttpJsonStyle => {
    const given = bodyOf(request);
    const { content, parts }: Loose = Object(given.message ?? given.request);
    return Array.isArray(content) ? 'proto' : Array.isArray(parts) ? 'kind' : style;
  };
  const wayOf = (request: HttpRequest): Way =>
    styleOf(request) === 'kind'
      ? { report, isLenient: true }
      : {
          report,
          isLenient: true,
          isProto: true,
          files: files ?? fileBytesOf(request.headers['user-agent']) ?? 'guess',
        };
  const dataFor = ({ headers }: HttpRequest) => errorDataFor(headers['a2a-version']);

  return {
    ...about,
    streamErrorEvent: 'error',

    matches: httpJsonServer.matches,

    decodeCall(request) {
      const path = newerPath(request.path);
      if (path === undefined) throw new A2AError('METHOD_NOT_FOUND');
      const query = new URLSearchParams(request.query);
      query.delete('tenant');
      const { body } = request;
      const newer = {
        ...request,
        path,
        query,
        body: body && { json: () => translate(path, body.json(), request) },
      };
      const call = httpJsonServer.decodeCall(newer);
      if (call.params.tenant !== undefined) throw new A2AError('METHOD_NOT_FOUND');
      v03OperationOf(call.operation);
      const lastEventId = request.headers['last-event-id'] ?? '';
      return { ...call, request, ...(call.operation === 'SubscribeToTask' && { lastEventId }) };
    },

    encodeResult: ({ operation, request }, result) => ({
      status: 200,
      headers: { 'content-type': JSON_TYPE },
      body: JSON.stringify(encodeResult(operation, result, wayOf(request)) ?? {}),
    }),

    encodeStream({ operation, request }) {
      const way = wayOf(request);
      return {
        event: ({ value }, isLast) => JSON.stringify(encodeResult(operation, value, { ...way, isLast })),
        error: (error) => errorBody(error, dataFor(request)),
      };
    },

    encodeError(error, request) {
      const { status, headers } = httpJsonServer.encodeError(error, request);
      return {
        status,
        headers: { ...headers, 'content-type': JSON_TYPE },
        body: errorBody(error, dataFor(request)),
      };
    },
  };

  function translate(path: string, given: unknown, request: HttpRequest): unknown {
    if (!isObject(given)) return given;
    if (path.startsWith('/message:'))
      return identified(decodeParams('SendMessage', given, wayOf(request)), isLenient);
    if (path.endsWith('/pushNotificationConfigs'))
      return decodeParams('CreateTaskPushNotificationConfig', given, wayOf(request));
    return path.endsWith(':cancel') ? { metadata: given.metadata } : {};
  }
}

/** The path of 1.0, or undefined for a path that 0.3 does not have. */
function newerPath(path: string): string | undefined {
  const rest = /^\/v1(\/.+)$/.exec(path)?.[1];
  if (rest === '/extendedAgentCard') return undefined;
  return rest === '/card' ? '/extendedAgentCard' : rest;
}

/** HTTP+JSON of 0.3, client half. Writes the JSON of the protocol buffers, accepts both styles. Spec: 0.3 §7. */
export function httpJsonClient03(report: ReportLoss, files: FileBytes | undefined): ClientBinding {
  const read = (operation: OperationName, result: unknown) =>
    decodeResult(operation, result, { report, files: files ?? 'guess' });

  return {
    ...about,

    encodeCall(call, baseUrl) {
      const { operation } = call;
      const body = encodeParams(operation, call.params, { report, isProto: true, files });
      const base = new URL(baseUrl);
      base.pathname = `${base.pathname.replace(/\/$/, '')}/v1`;
      const { alternative, ...request } = httpJsonClient.encodeCall(call, base.href);
      const asOlder = ({ method, url, headers }: typeof request) => ({
        method,
        url: url.replace(/\/extendedAgentCard$/, '/card'),
        headers: {
          accept: headers.accept?.startsWith('text/') ? `text/event-stream, ${JSON_TYPE}` : JSON_TYPE,
          ...(method === 'POST' && { 'content-type': JSON_TYPE }),
        },
        ...(method === 'POST' && { body: JSON.stringify(body) }),
      });
      return { ...asOlder(request), ...(alternative && { alternative: asOlder(alternative) }) };
    },

    decodeReply(call, reply) {
      const isError = reply.status < 200 || reply.status > 299;
      try {
        return read(call.operation, httpJsonClient.decodeReply(call, reply));
      } catch (error) {
        throw isError && A2AError.is(error) ? errorOfReply(call, reply, error) : error;
      }
    },

    decodeEvent(call, data) {
      const error = errorIn(data);
      if (error) throw upError(error);
      return read(call.operation, httpJsonClient.decodeEvent(call, data));
    },

    isLastEvent(data) {
      if (!/"final"\s*:\s*true/.test(data)) return false;
      const event = JSON.parse(data);
      return (event.statusUpdate ?? event).final === true;
    },
  };
}

/**
 * The body of an error on HTTP+JSON. SDKs of 0.3 differ in what they read of it: the `code` of JSON-RPC (JavaScript), the
 * name in `type` (Python), or the `google.rpc.Status` in `error` (Go), so that it has all three.
 */
function errorBody(error: A2AError, data: ErrorData): string {
  const { reason, message } = error;
  const { http: code, status } = errorTable[reason];
  return JSON.stringify({
    ...downError(error, data),
    type: nameOf(reason),
    error: { code, status, message, details: toDetails(error) },
  });
}

/**
 * The error of a refusal, in any of the forms of {@link errorBody}, or with a message but no code, as other SDKs of 0.3 write
 * it: then its `type` tells its reason, or else the HTTP status and the operation. `newer` is the error as 1.0 reads the reply,
 * which may not be an agent's, such as a page of a proxy.
 */
function errorOfReply(call: Call, { status, body }: IncomingReply, newer: A2AError): A2AError {
  const wire = errorIn(body);
  if (wire) return upError(wire, newer);
  const { message, type } = Object(tryJson(body));
  const reason = typeof message === 'string' ? (reasonNamed(type) ?? reasonOf(call, status)) : undefined;
  return reason ? new A2AError(reason, message || undefined, { retryAfter: newer.retryAfter }) : newer;
}

const reasons: Readonly<Partial<Record<number, ErrorReason>>> = {
  404: 'TASK_NOT_FOUND',
  409: 'TASK_NOT_CANCELABLE',
  415: 'CONTENT_TYPE_NOT_SUPPORTED',
  422: 'INVALID_PARAMS',
  501: 'UNSUPPORTED_OPERATION',
  502: 'INVALID_AGENT_RESPONSE',
};

function reasonOf({ operation, params }: Call, status: number): ErrorReason | undefined {
  const { id, taskId, message } = params;
  if (status === 404 && operation === 'GetExtendedAgentCard') return 'EXTENDED_AGENT_CARD_NOT_CONFIGURED';
  if (status === 404 && !(id || taskId || (isObject(message) && message.taskId))) return undefined;
  return status === 501 && operation.includes('PushNotification')
    ? 'PUSH_NOTIFICATION_NOT_SUPPORTED'
    : reasons[status];
}
