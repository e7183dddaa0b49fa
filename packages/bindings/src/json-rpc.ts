import { A2AError, type FieldViolation, invalidParams, invalidRequest } from '@batonjs/protocol/errors';
import { AGENT_CARD_PATH, EVENT_STREAM, JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { isObject } from '@batonjs/protocol/json';
import { isOperationName, operationNames, operations } from '@batonjs/protocol/operations';
import type { ClientBinding, ServerBinding, SharedJson, StreamEncoder } from './binding.ts';
import { foreignAnswer, fromWire, rowOf, toDetails, toHeaders } from './error-info.ts';
import { type HttpRequest, requireJson } from './http.ts';
import { parseAnswer } from './json-body.ts';
import { operationOfOlderMethod } from './older-methods.ts';

const name = 'JSONRPC';
const version = PROTOCOL_VERSION;
const headers = { 'content-type': JSON_TYPE };

/** The HTTP statuses with which a reply may carry an error. All other errors have the status 200. */
const httpStatuses: ReadonlySet<number> = new Set([401, 403, 405, 413, 415, 429, 503]);

/** JSON-RPC 2.0, server half: one URL, and the body names the operation. Spec: §9. */
export const jsonRpcServer: ServerBinding = {
  name,
  version,

  matches: isMount,

  decodeCall(request) {
    if (!isMount(request)) throw new A2AError('METHOD_NOT_FOUND');
    if (request.method !== 'POST')
      throw new A2AError(
        'METHOD_NOT_ALLOWED',
        `This address takes JSON-RPC by POST; the card of the agent is at ${AGENT_CARD_PATH} below it`,
        { metadata: { allow: 'POST' } },
      );
    requireJson(request);
    if (!request.body) throw new A2AError('PARSE_ERROR');
    const { id, method, params } = envelopeOf(request.body.json());
    if (!isOperationName(method)) throw methodNotFound(method);
    if (!isObject(params)) throw invalidParams([{ field: 'params', description: 'must be an object' }]);
    return { operation: method, params, id, request };
  },

  encodeResult: ({ id }, result) => ({ status: 200, headers: { ...headers }, body: success(id, result) }),
  encodeStream: ({ id }) => new JsonRpcStream(id),
  encodeError(error, request) {
    const { http } = rowOf(error);
    const status = httpStatuses.has(http) ? http : 200;
    return { status, headers: { ...headers, ...toHeaders(error) }, body: failure(idOf(request), error) };
  },
};

/** JSON-RPC 2.0, client half. The default `id` is 1: each HTTP request has one reply. Spec: §9. */
export const jsonRpcClient: ClientBinding = {
  name,
  version,

  encodeCall: ({ operation, params, id = 1 }, baseUrl) => ({
    method: 'POST',
    url: baseUrl,
    headers: {
      ...headers,
      accept: operations[operation].kind === 'stream' ? `${EVENT_STREAM}, ${JSON_TYPE}` : JSON_TYPE,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method: operation, params }),
  }),

  decodeReply({ operation }, reply) {
    const body = parseAnswer(reply.body);
    if (isObject(body)) {
      if ('result' in body || isObject(body.error))
        return unwrap(body, reply.status, reply.headers.get('retry-after'));
      if (body.jsonrpc === '2.0' && reply.status < 300 && 'mayBeEmpty' in operations[operation]) return {};
    }
    throw foreignAnswer(reply);
  },

  decodeEvent: (_call, data) => unwrap(parseAnswer(data), 200),
};

function isMount({ path }: HttpRequest): boolean {
  return path === '' || path === '/';
}

type Id = string | number | null | undefined;

class JsonRpcStream implements StreamEncoder {
  readonly #id: Id;

  constructor(id: Id) {
    this.#id = id;
  }

  event({ text }: SharedJson): string {
    return `{"jsonrpc":"2.0","id":${JSON.stringify(this.#id ?? null)},"result":${text}}`;
  }

  error(error: A2AError): string {
    return failure(this.#id, error);
  }
}

const success = (id: Id, result: unknown) => JSON.stringify({ jsonrpc: '2.0', id: id ?? null, result });

const failure = (id: Id, error: A2AError) => {
  const { jsonRpc: code } = rowOf(error);
  return JSON.stringify({
    jsonrpc: '2.0',
    id: id ?? null,
    error: { code, message: error.message, data: toDetails(error) },
  });
};

/**
 * Whether a value is a string, a number or null (JSON-RPC 2.0 §4; A2A §9.3 adds nothing). An integer beyond 2^53 is
 * refused: the parser has rounded it, and the reply would name another request.
 */
const isId = (id: unknown): id is string | number | null =>
  id === null ||
  typeof id === 'string' ||
  Number.isSafeInteger(id) ||
  (typeof id === 'number' && id % 1 !== 0);

function envelopeOf(body: unknown) {
  if (!isObject(body))
    throw invalidRequest([{ field: '', description: 'must be one JSON-RPC request object' }]);
  const { jsonrpc, id, method, params } = body;
  const violations: FieldViolation[] = [];
  if (jsonrpc !== '2.0') violations.push({ field: 'jsonrpc', description: 'must be "2.0"' });
  // A request without an id is a notification, which gets no answer. Every method of A2A has an answer.
  if (id === undefined) violations.push({ field: 'id', description: 'is required' });
  else if (!isId(id)) violations.push({ field: 'id', description: 'must be a string, a number or null' });
  if (typeof method !== 'string') violations.push({ field: 'method', description: 'must be a string' });
  if (violations.length > 0) throw invalidRequest(violations);
  return { id: id as Exclude<Id, undefined>, method: method as string, params: params ?? {} };
}

/** For a method of 0.3, the message names that of 1.0. */
function methodNotFound(method: string): A2AError {
  const operation = operationOfOlderMethod(method);
  const exact = operationNames.find((name) => name.toLowerCase() === method.toLowerCase());
  if (exact) return new A2AError('METHOD_NOT_FOUND', `Method not found: ${method} is written ${exact}`);
  if (!operation) return new A2AError('METHOD_NOT_FOUND');
  const hint = `${method} is a method of A2A 0.3; in ${version} it is ${operation}`;
  return new A2AError('METHOD_NOT_FOUND', `Method not found: ${hint}`);
}

/** The id of a request, for errors in decoding its call. */
function idOf({ body }: HttpRequest): Id {
  try {
    const envelope = body?.json();
    return isObject(envelope) && isId(envelope.id) ? envelope.id : undefined;
  } catch {
    return undefined;
  }
}

function unwrap(body: unknown, status: number, retryAfter?: string | null): unknown {
  if (!isObject(body)) throw new A2AError('INVALID_AGENT_RESPONSE');
  const { error, result } = body;
  if (isObject(error)) {
    const { message, data: details, code } = error;
    throw fromWire({ message, details, code, status, retryAfter });
  }
  if (!('result' in body)) throw new A2AError('INVALID_AGENT_RESPONSE');
  // Some servers send null for an empty result.
  return result ?? {};
}
