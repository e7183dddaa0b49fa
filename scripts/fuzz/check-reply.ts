import { decodeSse } from '@batonjs/bindings';
import { AgentCard, StreamResponse, schemas } from '@batonjs/protocol';
import { type ErrorRow, errorTable } from '@batonjs/protocol/errors';
import { isOperationName, type OperationName, operationNames } from '@batonjs/protocol/operations';
import { longestReply } from './limits.ts';
import type { RawReply } from './reply.ts';
import type { RawRequest } from './request.ts';
import type { Outcome } from './wire.ts';

/** Thrown for what a reply must not be. */
class Fault extends Error {}

const fail = (message: string): never => {
  throw new Fault(message);
};

const httpStatuses = new Set([200, 401, 403, 405, 413, 415, 429]);

/** The fault in what a server did, in words; undefined if there is none. */
export async function checkOutcome(
  request: RawRequest & { readonly operation: OperationName },
  outcome: Outcome,
): Promise<string | undefined> {
  try {
    if (outcome.kind === 'hung') fail('There was no reply in time');
    if (outcome.kind === 'garbage') fail(`The reply is no HTTP: ${outcome.message}`);
    if (outcome.kind === 'closed' && !request.isMangled) fail('The server hung up');
    if (outcome.kind === 'reply' || outcome.kind === 'stream') await checkReply(request, outcome.reply);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

async function checkReply(
  request: RawRequest & { readonly operation: OperationName },
  reply: RawReply,
): Promise<void> {
  const { status, headers, body } = reply;
  if (body.length > longestReply) fail(`A reply of ${body.length} characters`);
  if (status >= 500) fail(`Status ${status}: ${body.slice(0, 300)}`);
  if (request.isMangled && isOfHttpServer(reply)) return;
  const path = request.target.replace(/[?#].*$/s, '');
  if (request.method === 'HEAD') return;
  if (status === 204 && request.method === 'OPTIONS') return;
  if (path.endsWith('/.well-known/agent-card.json') && (status === 200 || status === 304))
    return status === 304 ? undefined : checkCard(reply);
  if (status === 304) return;
  if (headers['cache-control'] === undefined) fail('Nothing says whether it may be cached');
  const isRpc = path === '' || path === '/';
  if (headers['content-type']?.startsWith('text/event-stream')) return checkStream(reply, isRpc);
  const json = parse(body);
  if (isRpc) checkRpc(request, reply, json);
  else checkHttp(request, reply, json);
}

/** What Node.js itself answers to bytes that are no HTTP. */
const isOfHttpServer = ({ status, headers, body }: RawReply): boolean =>
  [400, 408, 413, 417, 431, 505].includes(status) && body === '' && headers['content-type'] === undefined;

function parse(body: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>;
  } catch {
    // Told below.
  }
  return fail(`No JSON object: ${body.slice(0, 200)}`);
}

function checkCard({ headers, body }: RawReply): void {
  if (headers['content-type'] !== 'application/json') fail(`A card of type ${headers['content-type']}`);
  const parsed = AgentCard.safeParse(parse(body));
  if (!parsed.success) fail(`No card: ${parsed.error.message.slice(0, 300)}`);
}

function checkRpc(
  request: RawRequest & { readonly operation: OperationName },
  { status, headers }: RawReply,
  json: Record<string, unknown>,
): void {
  if (headers['content-type'] !== 'application/json') fail(`JSON-RPC of type ${headers['content-type']}`);
  if (!httpStatuses.has(status)) fail(`JSON-RPC with status ${status}`);
  checkEnvelope(json);
  const sent = tryJson(request.body);
  if (json.id !== null && sent && json.id !== sent.id)
    fail(`The id ${JSON.stringify(json.id)} is not that of the request`);
  const method = typeof sent?.method === 'string' ? sent.method : '';
  const isWrapped = request.changes.some((change) => change === 'chunks' || change === 'compressed');
  if ('error' in json) checkError(json.error, (json.error as { data?: unknown }).data, 'jsonRpc');
  else if (isWrapped) checkResult(json.result, operationNames);
  else if (isOperationName(method)) checkResult(json.result, [method]);
  else fail('A result of no method');
}

function checkEnvelope(json: Record<string, unknown>): void {
  if (json.jsonrpc !== '2.0') fail('No jsonrpc');
  if (!('id' in json) || !(json.id === null || ['string', 'number'].includes(typeof json.id))) fail('No id');
  if ('result' in json === 'error' in json) fail('Neither or both of result and error');
}

function checkHttp(
  request: RawRequest & { readonly operation: OperationName },
  { status, headers }: RawReply,
  json: Record<string, unknown>,
): void {
  if (!/^application\/(a2a\+)?json$/.test(headers['content-type'] ?? ''))
    fail(`HTTP+JSON of type ${headers['content-type']}`);
  if (status === 200) {
    const isUntouched = !request.changes.some((change) => /segment|method|target|query/.test(change));
    checkResult(json, isUntouched ? [request.operation] : operationNames);
    return;
  }
  const { error } = json as { error?: { code?: unknown; details?: unknown } };
  if (error?.code !== status) fail(`Status ${status} with the code ${error?.code}`);
  checkError(error, error?.details, 'http');
  if (status === 405 && !headers.allow) fail('405 without Allow');
}

function checkResult(result: unknown, operations: readonly OperationName[]): void {
  const parsed = operations.map((name) => schemas[name].result.safeParse(result));
  if (parsed.some(({ success }) => success)) return;
  fail(`No result of ${operations[0]}: ${parsed[0]?.error?.message.slice(0, 300)}`);
}

function checkError(error: unknown, details: unknown, code: 'jsonRpc' | 'http'): void {
  const { message, code: sent } = error as { message?: unknown; code?: unknown };
  if (typeof message !== 'string' || message === '') fail('An error without a message');
  if (!Array.isArray(details)) fail('An error without details');
  const all = details as { '@type'?: unknown; reason?: string }[];
  if (!all.every((detail) => typeof detail['@type'] === 'string')) fail('A detail without a type');
  const reason = all.find((detail) => String(detail['@type']).endsWith('ErrorInfo'))?.reason ?? '';
  const rows = Object.entries<ErrorRow>(errorTable).flatMap(([name, row]) => (name === reason ? [row] : []));
  if (rows.length === 0) fail(`An error of the reason "${reason}"`);
  if (rows.some(({ http }) => http >= 500)) fail(`${reason}: ${message}`);
  if (!rows.some((row) => row[code] === sent)) fail(`${reason} with the code ${sent}`);
}

async function checkStream({ body, status }: RawReply, isRpc: boolean): Promise<void> {
  if (status !== 200) fail(`A stream of status ${status}`);
  // The last event may be half of one.
  const whole = body.slice(0, body.lastIndexOf('\n\n') + 2);
  for await (const { data } of decodeSse(new Blob([whole]).stream())) {
    const json = parse(data);
    if (isRpc) checkEnvelope(json);
    const error = json.error as { data?: unknown; details?: unknown } | undefined;
    if (error) checkError(error, isRpc ? error.data : error.details, isRpc ? 'jsonRpc' : 'http');
    else {
      const parsed = StreamResponse.safeParse(isRpc ? json.result : json);
      if (!parsed.success) fail(`No event: ${parsed.error.message.slice(0, 300)}`);
    }
  }
}

function tryJson(body: Buffer | undefined): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(body?.toString().replace(/^\ufeff/, '') ?? '');
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
