import { A2AError, type FieldViolation, invalidParams } from '@batonjs/protocol/errors';
import { A2A_JSON, EVENT_STREAM, JSON_TYPE, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { isObject } from '@batonjs/protocol/json';
import { type OperationName, operations, type QueryType } from '@batonjs/protocol/operations';
import type { Call, ClientBinding, ServerBinding, StreamEncoder } from './binding.ts';
import { foreignAnswer, fromWire, rowOf, toDetails, toHeaders } from './error-info.ts';
import {
  type HttpRequest,
  type IncomingReply,
  type OutgoingRequest,
  replyType,
  requireJson,
} from './http.ts';
import { parseAnswer } from './json-body.ts';
import { matchRoute, type PathField } from './routes.ts';

export { saysOf } from './error-info.ts';

const name = 'HTTP+JSON';
const version = PROTOCOL_VERSION;

/** HTTP+JSON, server half: method and path name the operation. Spec: §11. */
export const httpJsonServer: ServerBinding = {
  name,
  version,

  matches: ({ path }) => path !== '' && path !== '/',

  decodeCall(request) {
    const match = matchRoute(request.method, request.path);
    if (!match) throw new A2AError('METHOD_NOT_FOUND');
    if ('allow' in match)
      throw new A2AError('METHOD_NOT_ALLOWED', undefined, { metadata: { allow: match.allow.join(', ') } });
    const { operation, fields } = match;
    const params = request.method === 'POST' ? readBody(request) : readQuery(operation, request.query);
    return { operation, params: withPathFields(params, fields), request };
  },

  encodeResult: ({ request }, result) => ({
    status: 200,
    headers: { 'content-type': replyType(request) },
    body: JSON.stringify(result),
  }),
  encodeStream: () => stream,
  encodeError: (error, request) => ({
    status: rowOf(error).http,
    headers: { 'content-type': replyType(request), ...toHeaders(error) },
    body: failure(error),
  }),
};

/** HTTP+JSON, client half. `tenant` travels as the first segment of the path. Spec: §11. */
export const httpJsonClient: ClientBinding = {
  name,
  version,

  encodeCall(call, baseUrl) {
    const [first, second] = operations[call.operation].http;
    const request = encodeRule(call, baseUrl, first);
    return second ? { ...request, alternative: encodeRule(call, baseUrl, second) } : request;
  },

  decodeReply(_call, reply) {
    const body = reply.body.trim() === '' ? {} : parseAnswer(reply.body);
    if (reply.status < 200 || reply.status > 299) throw errorOf(body, reply);
    if (body === undefined) throw foreignAnswer(reply);
    return body ?? {};
  },

  decodeEvent(_call, data) {
    const event = parseAnswer(data);
    if (!isObject(event)) throw new A2AError('INVALID_AGENT_RESPONSE');
    if (isObject(event.error)) throw errorOf(event);
    return event;
  },
};

/** Events of HTTP+JSON do not depend on their call. */
const stream: StreamEncoder = { event: ({ text }) => text, error: (error) => failure(error) };

function failure(error: A2AError): string {
  const { http: code, status } = rowOf(error);
  return JSON.stringify({ error: { code, status, message: error.message, details: toDetails(error) } });
}

function errorOf(body: unknown, reply?: IncomingReply): A2AError {
  const outer = isObject(body) ? body : {};
  const isInner = isObject(outer.error);
  // Some agents leave out the outer object.
  if (reply && !isInner && !('code' in outer || 'details' in outer)) return foreignAnswer(reply);
  const { message, details, code }: Record<string, unknown> = isInner ? Object(outer.error) : outer;
  const status = reply?.status ?? (typeof code === 'number' ? code : undefined);
  return fromWire({ message, details, code, status, retryAfter: reply?.headers.get('retry-after') });
}

/** The body is the whole request object; `tenant` may also stand in the query. */
function readBody(request: HttpRequest): Record<string, unknown> {
  const tenant = request.query.get('tenant');
  const query: PathField[] = tenant ? [['tenant', encodeURIComponent(tenant)]] : [];
  if (request.body || mayBeForged(request)) requireJson(request);
  if (!request.body) return withPathFields({}, query);
  const body = request.body.json();
  if (!isObject(body)) throw invalidParams([{ field: '', description: 'must be an object' }]);
  return withPathFields(body, query);
}

/**
 * Whether a page of another site may have made a browser send this request, with the user's cookies. Browsers send a CORS
 * preflight before JSON or a header of ours, so a request without a body needs one of these. A request without a type that
 * does not come from a browser needs none.
 */
const mayBeForged = ({ headers }: HttpRequest): boolean =>
  headers['a2a-version'] === undefined &&
  ['content-type', 'origin', 'cookie'].some((name) => headers[name] !== undefined && headers[name] !== '');

function readQuery(operation: OperationName, query: URLSearchParams): Record<string, unknown> {
  const known = queryOf(operation);
  const params: Record<string, unknown> = {};
  const violations: FieldViolation[] = [];
  for (const [given, text] of query) {
    const field = given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (field !== 'tenant' && !Object.hasOwn(known, field)) continue;
    if (known[field] === 'strings') {
      params[field] = [...((params[field] as string[] | undefined) ?? []), text];
      continue;
    }
    if (field in params) violations.push({ field, description: 'is given more than once' });
    params[field] = fromText(text, known[field]);
  }
  if (violations.length > 0) throw invalidParams(violations);
  return params;
}

/** Text that is not of the type stays text, so that the schema reports it. */
function fromText(text: string, type: QueryType | undefined): unknown {
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  return text;
}

const queryOf = (operation: OperationName): Readonly<Record<string, QueryType>> => {
  const row = operations[operation];
  return 'query' in row ? row.query : {};
};

/** The path decides; a request that says something else besides is refused. Spec: §11.5. */
function withPathFields(
  params: Record<string, unknown>,
  fields: readonly PathField[],
): Record<string, unknown> {
  if (fields.length === 0) return params;
  const result = { ...params };
  const violations: FieldViolation[] = [];
  for (const [field, encoded] of fields) {
    const value = decodeField(encoded);
    const other = params[field] ?? '';
    if (value === undefined) violations.push({ field, description: 'is not percent-encoded correctly' });
    else if (other !== '' && other !== value)
      violations.push({ field, description: 'differs from the path' });
    result[field] = value;
  }
  if (violations.length > 0) throw invalidParams(violations);
  return result;
}

function decodeField(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function encodeRule({ operation, params }: Call, baseUrl: string, rule: string): OutgoingRequest {
  const { tenant, ...rest }: Record<string, unknown> = params;
  const [method = '', template = ''] = rule.split(' ');
  const path = template.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = encodeField(field, rest[field]);
    delete rest[field];
    return value;
  });
  const url = new URL(baseUrl);
  const prefix = tenant ? `/${encodeField('tenant', tenant)}` : '';
  url.pathname = url.pathname.replace(/\/$/, '') + prefix + path;
  const accept = `${operations[operation].kind === 'stream' ? `${EVENT_STREAM}, ` : ''}${A2A_JSON}, ${JSON_TYPE}`;
  if (method === 'POST') {
    const headers = { accept, 'content-type': A2A_JSON };
    return { method, url: url.href, headers, body: JSON.stringify(rest) };
  }
  for (const field of Object.keys(queryOf(operation)))
    for (const value of [rest[field] ?? []].flat()) url.searchParams.append(field, String(value));
  return { method, url: url.href, headers: { accept } };
}

function encodeField(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalidParams([{ field, description: 'is required' }]);
  // URLs resolve dot segments, encoded or not, and `/tasks/tasks` is a task: the request would be another one.
  const misleading = value === '.' || value === '..' || (field === 'tenant' && value === 'tasks');
  if (misleading || !value.isWellFormed())
    throw invalidParams([{ field, description: 'cannot stand in a path' }]);
  return encodeURIComponent(value);
}
