import {
  type ClientBinding,
  encodeSse,
  type HttpReply,
  type HttpRequest,
  jsonRpcClient,
  jsonRpcServer,
  olderMethodOf,
  operationOfOlderMethod,
  type ServerBinding,
  SharedJson,
  sseHeaders,
} from '@batonjs/bindings';
import { A2AError, type FieldViolation, invalidParams } from '@batonjs/protocol/errors';
import { LEGACY_EXTENSIONS, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { isObject } from '@batonjs/protocol/json';
import { isOperationName, type OperationName, operations } from '@batonjs/protocol/operations';
import { downError, errorDataFor, errorIn, upError } from '../translation/error.ts';
import { V03 } from '../translation/security.ts';
import { identified } from '../translation/task.ts';
import type { ReportLoss } from '../wire/loss.ts';
import { bodyOf, decodeParams, decodeResult, encodeParams, encodeResult } from './operations.ts';

const about = { name: jsonRpcServer.name, version: V03, extensionsHeader: LEGACY_EXTENSIONS };

/** JSON-RPC of 0.3, server half. `isLenient`: it accepts other spellings than the specification's. Spec: 0.3 §7. */
export function jsonRpcServer03(report: ReportLoss, isLenient: boolean): ServerBinding {
  const way = { report, isLenient };
  const operationOf = (method: unknown): OperationName | undefined => {
    const name = isLenient ? String(method).replaceAll('.', '/') : String(method);
    return operationOfOlderMethod(name);
  };
  const translate = (sent: unknown): unknown => {
    if (!isObject(sent)) return sent;
    // A request of 0.3 may have no id (0.3 §6.11.1). The id of its answer is null.
    const envelope: Record<string, unknown> = { id: null, ...sent };
    const { method, params: given } = envelope;
    if (typeof method !== 'string') return envelope;
    const operation = operationOf(method);
    if (!operation && isOperationName(method)) {
      const hint = `${method} is a method of A2A ${PROTOCOL_VERSION}; send A2A-Version: ${PROTOCOL_VERSION}`;
      throw new A2AError('METHOD_NOT_FOUND', `Method not found: ${hint}`);
    }
    const params = given ?? {};
    if (!operation || !isObject(params)) return { ...envelope, method: operation ?? '', params };
    if (!isLenient) checkKinds(params);
    const newer = identified(decodeParams(operation, params, way), isLenient);
    if (operation !== 'GetTaskPushNotificationConfig' || newer.id !== undefined)
      return { ...envelope, method: operation, params: newer };
    // The request names no webhook: it gets all, and `encodeResult` chooses one.
    const list = 'ListTaskPushNotificationConfigs';
    return { ...envelope, method: list, params: decodeParams(list, params, way) };
  };

  return {
    ...about,

    matches: jsonRpcServer.matches,

    decodeCall(request) {
      const { body } = request;
      const newer = { ...request, body: body && { json: () => translate(body.json()) } };
      const call = jsonRpcServer.decodeCall(newer);
      // An empty position starts the stream with the task as it is, which 0.3 also does for a task that has ended.
      const lastEventId = request.headers['last-event-id'] ?? '';
      return { ...call, request, ...(call.operation === 'SubscribeToTask' && { lastEventId }) };
    },

    encodeResult(call, result) {
      const operation = operationOf(bodyOf(call.request).method);
      const older = encodeResult(call.operation, result, way);
      if (call.operation === operation || !Array.isArray(older))
        return jsonRpcServer.encodeResult(call, older);
      if (older.length === 0) throw new A2AError('TASK_NOT_FOUND', 'The task has no webhook');
      const { taskId } = call.params;
      const own = older.find(({ pushNotificationConfig }) => pushNotificationConfig.id === taskId);
      return jsonRpcServer.encodeResult(call, own ?? older[0]);
    },

    encodeStream(call) {
      const { operation } = call;
      const newer = jsonRpcServer.encodeStream(call);
      return {
        event: ({ value }, isLast) =>
          newer.event(new SharedJson(encodeResult(operation, value, { report, isLast }))),
        error: (error) => withError(newer.error(error), error, call.request),
      };
    },

    encodeError(error, request) {
      const reply = jsonRpcServer.encodeError(error, request);
      const body = withError(String(reply.body), error, request);
      const operation = operationOf(bodyOf(request).method);
      const isStream = operation && operations[operation].kind === 'stream';
      // Clients of 0.3 expect events, and nothing else, in answer to a method that streams.
      return isStream && reply.status === 200 ? asEvent(reply, body) : { ...reply, body };
    },
  };
}

/** Throws `INVALID_PARAMS` for parts without a `kind` of 0.3. */
function checkKinds({ message }: Record<string, unknown>): void {
  const parts = isObject(message) && Array.isArray(message.parts) ? message.parts : [];
  const violations = parts.flatMap((part, n): FieldViolation[] =>
    isObject(part) && ['text', 'file', 'data'].includes(String(part.kind))
      ? []
      : [{ field: `message.parts[${n}].kind`, description: 'must be text, file or data' }],
  );
  if (violations.length > 0) throw invalidParams(violations);
}

const withError = (body: string, error: A2AError, { headers }: HttpRequest): string =>
  JSON.stringify({ ...JSON.parse(body), error: downError(error, errorDataFor(headers['a2a-version'])) });

const asEvent = (reply: HttpReply, data: string): HttpReply => ({
  status: reply.status,
  headers: { ...reply.headers, ...sseHeaders },
  body: encodeSse({ data }),
});

/** JSON-RPC of 0.3, client half. Accepts every spelling that agents use. Spec: 0.3 §7. */
export const jsonRpcClient03 = (report: ReportLoss): ClientBinding => ({
  ...about,

  encodeCall(call, baseUrl) {
    const params = encodeParams(call.operation, call.params, { report });
    const request = jsonRpcClient.encodeCall(call, baseUrl);
    const { jsonrpc, id } = JSON.parse(String(request.body));
    return {
      ...request,
      body: JSON.stringify({ jsonrpc, id, method: olderMethodOf(call.operation), params }),
    };
  },

  decodeReply: (call, reply) => {
    const result = decoded(reply.body, () => jsonRpcClient.decodeReply(call, reply));
    return decodeResult(call.operation, result, { report });
  },

  decodeEvent: (call, data) => {
    const event = decoded(data, () => jsonRpcClient.decodeEvent(call, data));
    return decodeResult(call.operation, event, { report });
  },

  isLastEvent: (data) => /"final"\s*:\s*true/.test(data) && JSON.parse(data).result?.final === true,
});

/** The result of `decode`. If it throws an error that the text carries, this reads the text again, as an error of 0.3. */
function decoded(text: string, decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    const wire = A2AError.is(error) ? errorIn(text) : undefined;
    throw wire && A2AError.is(error) ? upError(wire, error) : error;
  }
}
