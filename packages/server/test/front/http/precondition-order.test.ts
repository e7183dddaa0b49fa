import { afterAll, beforeAll, describe, it } from 'vitest';
import { exchange, type Sent } from '../../../../../test/kit/http/exchange.ts';
import { leavesNoTrace, prepare, usual } from '../../../../../test/kit/http/known-tasks.ts';
import { expectRefusal, type Reason } from '../../../../../test/kit/http/refusal.ts';
import { type Served, serveHttp } from '../../../../../test/kit/http/serve-http.ts';
import { type Known, said } from '../../../../../test/kit/http/wrong-sends.ts';

// A server that has a reason to refuse at every step: it asks who calls, requires an extension and cannot stream.
const extension = 'https://example.com/required/v1';
let served: Served;
let known: Known;
beforeAll(async () => {
  served = await serveHttp({
    authenticate: ({ headers }) =>
      headers.authorization === 'Bearer right' ? { scope: 'right' } : undefined,
    card: {
      name: 'Strict',
      description: 'For tests',
      capabilities: { streaming: false, extensions: [{ uri: extension, required: true }] },
    },
  });
  known = await prepare(served, good);
});
afterAll(() => served.close());

const good = { ...usual, authorization: 'Bearer right', 'a2a-extensions': extension };

/** What can be wrong with a request, in the order in which the server checks it (step 2 of a request's life in docs/architecture.md). */
type Wrong =
  | 'body'
  | 'envelope'
  | 'credentials'
  | 'version'
  | 'method'
  | 'capability'
  | 'extension'
  | 'schema'
  | 'task'
  | 'context'
  | 'state'
  | 'content type';

/** Each alone, and each together with everything that comes after it and can be wrong in the same request. */
// biome-ignore format: a table reads best with one row per line
const rows: readonly [first: Wrong, also: readonly Wrong[], reason: Reason, fields?: readonly string[]][] = [
  ['body', [], 'PARSE_ERROR'],
  ['body', ['credentials', 'version', 'extension'], 'PARSE_ERROR'],
  ['envelope', ['credentials', 'version', 'extension', 'schema', 'task'], 'INVALID_REQUEST', ['jsonrpc']],
  ['credentials', [], 'UNAUTHENTICATED'],
  ['credentials', ['version', 'method', 'extension', 'schema'], 'UNAUTHENTICATED'],
  ['credentials', ['task'], 'UNAUTHENTICATED'],
  ['version', [], 'VERSION_NOT_SUPPORTED'],
  ['version', ['method', 'extension', 'schema'], 'VERSION_NOT_SUPPORTED'],
  ['version', ['capability', 'extension', 'schema'], 'VERSION_NOT_SUPPORTED'],
  ['version', ['task', 'content type'], 'VERSION_NOT_SUPPORTED'],
  ['method', ['extension', 'schema', 'task'], 'METHOD_NOT_FOUND'],
  ['capability', [], 'UNSUPPORTED_OPERATION'],
  ['capability', ['extension', 'schema', 'task', 'content type'], 'UNSUPPORTED_OPERATION'],
  ['extension', [], 'EXTENSION_SUPPORT_REQUIRED'],
  ['extension', ['schema', 'task', 'content type'], 'EXTENSION_SUPPORT_REQUIRED'],
  ['schema', ['task', 'context', 'content type'], 'INVALID_PARAMS', ['message.role']],
  ['schema', ['state', 'context', 'content type'], 'INVALID_PARAMS', ['message.role']],
  ['task', ['context', 'content type'], 'TASK_NOT_FOUND'],
  ['context', [], 'INVALID_PARAMS', ['message.contextId']],
  ['context', ['state', 'content type'], 'INVALID_PARAMS', ['message.contextId']],
  ['state', [], 'UNSUPPORTED_OPERATION'],
  ['state', ['content type'], 'UNSUPPORTED_OPERATION'],
  ['content type', [], 'CONTENT_TYPE_NOT_SUPPORTED'],
];

function requestOf(binding: 'JSONRPC' | 'HTTP+JSON', wrongs: ReadonlySet<Wrong>): Sent {
  const headers: Record<string, string> = { ...good };
  if (wrongs.has('credentials')) headers.authorization = 'Bearer wrong';
  if (wrongs.has('version')) headers['a2a-version'] = '9.9';
  if (wrongs.has('extension')) headers['a2a-extensions'] = '';
  const message = said({
    ...(wrongs.has('schema') && { role: 'king' }),
    ...(wrongs.has('task') && { taskId: 'nobody' }),
    ...(wrongs.has('state') && { taskId: known.completed }),
    ...(wrongs.has('context') && { contextId: 'another' }),
    parts: [{ text: 'hello', ...(wrongs.has('content type') && { mediaType: 'video/mp4' }) }],
  });
  if (wrongs.has('context') && !wrongs.has('task') && !wrongs.has('state'))
    Object.assign(message, { taskId: known.asking });
  const method = wrongs.has('method')
    ? 'Nothing'
    : wrongs.has('capability')
      ? 'SendStreamingMessage'
      : 'SendMessage';
  const paths: Record<string, string> = {
    Nothing: '/nothing',
    SendStreamingMessage: '/message:stream',
    SendMessage: '/message:send',
  };
  const request = { jsonrpc: wrongs.has('envelope') ? '1.0' : '2.0', id: 'r', method, params: { message } };
  const text = JSON.stringify(binding === 'JSONRPC' ? request : { message });
  return {
    method: 'POST',
    path: binding === 'JSONRPC' ? '/agent' : `/agent${paths[method]}`,
    headers,
    body: wrongs.has('body') ? text.slice(0, -1) : text,
  };
}

describe.each(['JSONRPC', 'HTTP+JSON'] as const)(
  '%s: which error is sent when several things are wrong',
  (binding) => {
    const fitting = rows
      .filter(([first]) => binding === 'JSONRPC' || first !== 'envelope')
      .map(([first, also, reason, fields]) => ({
        first,
        also,
        reason,
        fields,
        what: also.length > 0 ? `${first}, before ${also.join(', ')}` : `${first} alone`,
      }));

    it.each(fitting)('$what: $reason [R-OP-13]', async ({ first, also, reason, fields }) => {
      const sent = requestOf(binding, new Set([first, ...also]));
      await leavesNoTrace(served, async () =>
        expectRefusal(binding, await exchange(served.origin, sent), {
          reason,
          fields,
          id: first === 'body' ? null : 'r',
        }),
      );
    });
  },
);
