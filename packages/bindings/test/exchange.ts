import type { HttpReply, HttpRequest, IncomingReply, OutgoingRequest } from '../src/index.ts';
import { httpJsonClient, httpJsonServer, jsonBody, jsonRpcClient, jsonRpcServer } from '../src/index.ts';

/** Both bindings with both halves, for tests that hold for every binding. */
export const bindings = [
  { name: 'JSONRPC', server: jsonRpcServer, client: jsonRpcClient },
  { name: 'HTTP+JSON', server: httpJsonServer, client: httpJsonClient },
];

/** Where the agent under test is mounted. */
export const baseUrl = 'https://agents.example/agents/convert';

/** A request as a server would hand it to a binding. */
export function receive({ method, url, headers, body }: OutgoingRequest): HttpRequest {
  const { pathname, searchParams } = new URL(url);
  return {
    method,
    path: pathname.slice(new URL(baseUrl).pathname.length),
    query: searchParams,
    headers,
    body: body === undefined ? undefined : jsonBody({ text: body }),
  };
}

/** A request to a path below the mount. */
export function request(rule: string, body?: string, headers: Record<string, string> = {}): HttpRequest {
  const [method = '', target = ''] = rule.split(' ');
  const [path = '', query = ''] = target.split('?');
  return {
    method,
    path,
    query: new URLSearchParams(query),
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : jsonBody({ text: body }),
  };
}

/** A reply as a client would hand it to a binding. */
export const answer = ({ status, headers, body }: HttpReply): IncomingReply => ({
  status,
  headers: new Headers(headers),
  body: typeof body === 'string' ? body : '',
});

/** The reason and the violated fields of what a function throws. */
export function refusal(run: () => unknown): { reason?: string; fields?: string[] } {
  try {
    run();
  } catch (error) {
    const { reason, details } = error as {
      reason: string;
      details: { fieldViolations?: { field: string }[] }[];
    };
    return { reason, fields: details[0]?.fieldViolations?.map(({ field }) => field) };
  }
  return {};
}
