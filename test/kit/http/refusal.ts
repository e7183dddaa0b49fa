import { expect } from 'vitest';
import type { Received } from './exchange.ts';
import { secret } from './serve-http.ts';

/** The form of an error on both bindings, written down here once more so that the table of the protocol can be wrong. */
interface Form {
  readonly code: number;
  readonly http: number;
  readonly status: string;
  /** Whether JSON-RPC says it with the HTTP status too. */
  readonly plain?: true;
  readonly domain?: string;
}

const ours = 'batonjs.dev';
const forms = {
  TASK_NOT_FOUND: { code: -32001, http: 404, status: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { code: -32002, http: 400, status: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32003, http: 400, status: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { code: -32004, http: 400, status: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32005, http: 400, status: 'INVALID_ARGUMENT' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { code: -32007, http: 400, status: 'FAILED_PRECONDITION' },
  EXTENSION_SUPPORT_REQUIRED: { code: -32008, http: 400, status: 'FAILED_PRECONDITION' },
  VERSION_NOT_SUPPORTED: { code: -32009, http: 400, status: 'FAILED_PRECONDITION' },
  PARSE_ERROR: { code: -32700, http: 400, status: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { code: -32600, http: 400, status: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { code: -32601, http: 404, status: 'UNIMPLEMENTED' },
  METHOD_NOT_ALLOWED: { code: -32601, http: 405, status: 'UNIMPLEMENTED', domain: ours, plain: true },
  INVALID_PARAMS: { code: -32602, http: 400, status: 'INVALID_ARGUMENT' },
  UNAUTHENTICATED: { code: -32600, http: 401, status: 'UNAUTHENTICATED', domain: ours, plain: true },
  PAYLOAD_TOO_LARGE: { code: -32600, http: 413, status: 'INVALID_ARGUMENT', domain: ours, plain: true },
  UNSUPPORTED_MEDIA_TYPE: { code: -32600, http: 415, status: 'INVALID_ARGUMENT', domain: ours, plain: true },
} as const satisfies Record<string, Form>;

export type Reason = keyof typeof forms;

/** How a request must be refused. */
export interface Refusal {
  readonly reason: Reason;
  /** Every member that is wrong, and no other. */
  readonly fields?: readonly string[] | undefined;
  /** The id to be answered, on JSON-RPC; null if none could be read. */
  readonly id?: string | number | null | undefined;
  readonly headers?: Record<string, string> | undefined;
}

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';

/** Checks a refusal to the last member: status, headers, shape, reason and fields, and that nothing else is sent. */
export function expectRefusal(binding: 'JSONRPC' | 'HTTP+JSON', reply: Received, refusal: Refusal): void {
  const { reason, fields, id = 'r', headers = {} } = refusal;
  const { code, http, status, plain, domain = 'a2a-protocol.org' }: Form = forms[reason];
  const details = [
    expect.objectContaining({ '@type': ERROR_INFO, reason, domain }),
    ...(fields ? [{ '@type': BAD_REQUEST, fieldViolations: expect.any(Array) }] : []),
  ];
  const message = expect.stringMatching(/^\S.{5,}/);
  expect(reply.json, reply.text).toEqual(
    binding === 'JSONRPC'
      ? { jsonrpc: '2.0', id, error: { code, message, data: details } }
      : { error: { code: http, status, message, details } },
  );
  const error = reply.json.error;
  const [info, bad] = error.data ?? error.details;
  expect(Object.keys(info).sort()).toEqual(
    info.metadata ? ['@type', 'domain', 'metadata', 'reason'] : ['@type', 'domain', 'reason'],
  );
  if (fields) {
    const violations: { field: string; description: string }[] = bad.fieldViolations;
    // One member may be wrong in two ways.
    expect([...new Set(violations.map(({ field }) => field))].sort()).toEqual([...fields].sort());
    for (const { description } of violations) expect(description).toMatch(/\S{2,}/);
  }
  expect(reply.status).toBe(binding === 'JSONRPC' && !plain ? 200 : http);
  expect(reply.headers).toMatchObject({
    'content-type': binding === 'JSONRPC' ? 'application/json' : 'application/a2a+json',
    ...headers,
  });
  expectDiscreet(reply.text);
}

/** Nothing of what only the server's own people may see. */
export function expectDiscreet(text: string): void {
  expect(text).not.toMatch(/<!doctype|<html|<pre>/i);
  expect(text).not.toMatch(
    /\bat .+\.[cm]?[jt]s:\d+:\d+|node:internal|node_modules|file:\/\/|\/packages\/|\.ts\b/,
  );
  expect(text).not.toMatch(/TypeError|ZodError|SyntaxError|Cannot read|is not a function/);
  expect(text).not.toContain(secret);
}
