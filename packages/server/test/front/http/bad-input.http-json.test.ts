import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { converse, exchange, type Sent } from '../../../../../test/kit/http/exchange.ts';
import { leavesNoTrace, prepare, usual } from '../../../../../test/kit/http/known-tasks.ts';
import { type MountName, roads } from '../../../../../test/kit/http/mounts.ts';
import {
  expectDiscreet,
  expectRefusal,
  type Reason,
  type Refusal,
} from '../../../../../test/kit/http/refusal.ts';
import { type Served, serveHttp } from '../../../../../test/kit/http/serve-http.ts';
import { type Known, said, wrongSends } from '../../../../../test/kit/http/wrong-sends.ts';

/** Requests that a framework refuses or rewrites itself. */
const unreached: Partial<Record<MountName, RegExp>> = {
  // Hooks of Fastify never see a path that it cannot decode.
  Fastify: /not percent-encoded|cut off|lone percent/,
  // A web-standard URL has its dots resolved.
  Hono: /backslash|of dots|encoded dots/,
  'Hono on web standards': /backslash|of dots|encoded dots/,
  '`server.fetch`': /backslash|of dots|encoded dots/,
};

describe.each(roads)('%s', (name, mount) => {
  // The mount is not involved in what is wrong here: one has the whole table, the others a ninth of it, and a third of operations.
  const isFirst = name === 'node:http';
  const sends = wrongSends.filter((_, index) => isFirst || index % 9 === 0);
  const someOf = <Case>(cases: readonly Case[]) => cases.filter((_, index) => isFirst || index % 3 === 0);
  let served: Served;
  let known: Known;
  beforeAll(async () => {
    served = await serveHttp({}, mount);
    known = await prepare(served);
  });
  afterAll(() => served.close());

  /** `path` is below the agent. */
  const ask = ({ path = '/message:send', ...sent }: Sent) =>
    exchange(served.origin, { method: 'POST', headers: usual, ...sent, path: `/agent${path}` });

  /** Sends a wrong request and checks the answer. */
  const refuse = (sent: Sent, refusal: Refusal) =>
    leavesNoTrace(served, async () => expectRefusal('HTTP+JSON', await ask(sent), refusal));

  describe('POST /message:send refuses [R-SEND-12] [R-OP-05] [R-ERR-02]', () => {
    it.each(sends)('$what: $reason', async ({ params, reason, fields }) => {
      const given = typeof params === 'function' ? params(known) : params;
      await refuse({ body: JSON.stringify(given) }, { reason, fields });
    });
  });

  describe('POST /message:stream refuses before it streams', () => {
    const some = sends.filter((_, index) => index % 9 === 0);
    it.each(some)('$what: $reason', async ({ params, reason, fields }) => {
      const given = typeof params === 'function' ? params(known) : params;
      await refuse({ path: '/message:stream', body: JSON.stringify(given) }, { reason, fields });
    });
  });

  const right = JSON.stringify({ message: said() });
  const nested = (levels: number) => `{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  type Row = readonly [what: string, sent: Sent, reason: Reason, more?: Omit<Refusal, 'reason'>];

  // biome-ignore format: a table reads best with one row per line
  const bodies: readonly Row[] = [
    ['no body', {}, 'INVALID_PARAMS', { fields: ['message'] }],
    ['an empty body', { body: '' }, 'INVALID_PARAMS', { fields: ['message'] }],
    ['blanks', { body: ' \n ' }, 'PARSE_ERROR'],
    ['a word', { body: 'hello' }, 'PARSE_ERROR'],
    ['a truncated object', { body: right.slice(0, -1) }, 'PARSE_ERROR'],
    ['two objects', { body: `${right}${right}` }, 'PARSE_ERROR'],
    ['a comma too many', { body: '{"message":{},}' }, 'PARSE_ERROR'],
    ['HTML', { body: '<script>alert(1)</script>' }, 'PARSE_ERROR'],
    ['bytes that are not UTF-8', { body: Buffer.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d) }, 'PARSE_ERROR'],
    ['an overlong UTF-8 sequence', { body: Buffer.of(0x22, 0xc0, 0xaf, 0x22) }, 'PARSE_ERROR'],
    ['UTF-16', { body: Buffer.from(right, 'utf16le') }, 'PARSE_ERROR'],
    ['null', { body: 'null' }, 'INVALID_PARAMS', { fields: [''] }],
    ['a number', { body: '7' }, 'INVALID_PARAMS', { fields: [''] }],
    ['text', { body: '"hello"' }, 'INVALID_PARAMS', { fields: [''] }],
    ['a list', { body: `[${right}]` }, 'INVALID_PARAMS', { fields: [''] }],
    ['an empty object', { body: '{}' }, 'INVALID_PARAMS', { fields: ['message'] }],
    ['a JSON-RPC request', { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: said() } }) }, 'INVALID_PARAMS', { fields: ['message'] }],
    ['101 levels', { body: nested(100) }, 'INVALID_REQUEST', { fields: [''] }],
    ['100,000 levels', { body: nested(100_000) }, 'INVALID_REQUEST', { fields: [''] }],
    ['100,000 levels that do not end', { body: '['.repeat(100_000) }, 'PARSE_ERROR'],
    ['a tenant that differs from the query [R-OP-10]', { path: '/message:send?tenant=a', body: JSON.stringify({ tenant: 'b', message: said() }) }, 'INVALID_PARAMS', { fields: ['tenant'] }],
    ['a tenant that differs from the path [R-OP-10] [R-REST-06]', { path: '/a/message:send', body: JSON.stringify({ tenant: 'b', message: said() }) }, 'INVALID_PARAMS', { fields: ['tenant'] }],
  ];

  const typed = (type: string | undefined): Sent => ({
    headers: { 'a2a-version': '1.0', ...(type !== undefined && { 'content-type': type }) },
    body: right,
  });
  const versioned = (version: string | undefined, path = '/tasks'): Sent => ({
    method: 'GET',
    headers: version === undefined ? {} : { 'a2a-version': version },
    path,
  });
  const get = (path: string): Sent => ({ method: 'GET', path });
  const allow = (methods: string) => ({ headers: { allow: methods } });

  // biome-ignore format: a table reads best with one row per line
  const requests: readonly Row[] = [
    ['no content type', typed(undefined), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['text/plain', typed('text/plain'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['a form', typed('application/x-www-form-urlencoded'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['problem+json', typed('application/problem+json'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['a content type of separators', typed(';;,'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['no version, which is 0.3 [R-VER-02] [R-VER-03]', versioned(undefined), 'VERSION_NOT_SUPPORTED'],
    ['an empty version', versioned(''), 'VERSION_NOT_SUPPORTED'],
    ['version 0.3', versioned('0.3'), 'VERSION_NOT_SUPPORTED'],
    ['version 2.0', versioned('2.0'), 'VERSION_NOT_SUPPORTED'],
    ['version 1.0-beta', versioned('1.0-beta'), 'VERSION_NOT_SUPPORTED'],
    ['a version that is none', versioned('"1.0"'), 'VERSION_NOT_SUPPORTED'],
    ['a version that is none in the query [R-VER-05]', versioned(undefined, '/tasks?a2a-version=%00'), 'VERSION_NOT_SUPPORTED'],
    ['an unknown path [R-REST-11]', get('/nowhere'), 'METHOD_NOT_FOUND'],
    ['a path of 0.3', { path: '/v1/message:sends', body: right }, 'METHOD_NOT_FOUND'],
    ['a path in the wrong case', get('/Tasks'), 'METHOD_NOT_FOUND'],
    ['an empty segment', get('/tasks//'), 'METHOD_NOT_FOUND'],
    ['two slashes first', get('//tasks'), 'METHOD_NOT_FOUND'],
    ['a path like a host', get('//evil.example/tasks'), 'METHOD_NOT_FOUND'],
    ['a path like a broken host', get('//[/tasks'), 'METHOD_NOT_FOUND'],
    ['a backslash', get('/\\tasks'), 'METHOD_NOT_FOUND'],
    ['a task without id and with an action', { path: '/tasks/:cancel' }, 'INVALID_PARAMS', { fields: ['id'] }],
    ['a task without id', get('/tasks/'), 'INVALID_PARAMS', { fields: ['id'] }],
    ['an unknown action', { path: '/tasks/x:explode' }, 'METHOD_NOT_ALLOWED', allow('GET')],
    ['the path of a prototype member', get('/constructor'), 'METHOD_NOT_FOUND'],
    ['the path __proto__/__proto__', get('/__proto__/__proto__'), 'METHOD_NOT_FOUND'],
    ['GET of a send [R-REST-11]', get('/message:send'), 'METHOD_NOT_ALLOWED', allow('POST')],
    ['PUT of a send', { method: 'PUT', body: right }, 'METHOD_NOT_ALLOWED', allow('POST')],
    ['POST of tasks', { path: '/tasks' }, 'METHOD_NOT_ALLOWED', allow('GET')],
    ['DELETE of a task', { method: 'DELETE', path: '/tasks/x' }, 'METHOD_NOT_ALLOWED', allow('GET')],
    ['PATCH of a task', { method: 'PATCH', path: '/tasks/x' }, 'METHOD_NOT_ALLOWED', allow('GET')],
    ['OPTIONS of tasks', { method: 'OPTIONS', path: '/tasks' }, 'METHOD_NOT_ALLOWED', allow('GET')],
    ['GET of a cancel', get('/tasks/x:cancel'), 'METHOD_NOT_ALLOWED', allow('POST')],
    ['DELETE of a subscription [R-REST-03]', { method: 'DELETE', path: '/tasks/x:subscribe' }, 'METHOD_NOT_ALLOWED', allow('POST, GET')],
    ['POST of the extended card', { path: '/extendedAgentCard' }, 'METHOD_NOT_ALLOWED', allow('GET')],
    ['an id that is not percent-encoded correctly', get('/tasks/%ZZ'), 'INVALID_PARAMS', { fields: ['id'] }],
    ['an id that is cut off', get('/tasks/%e2%82'), 'INVALID_PARAMS', { fields: ['id'] }],
    ['a lone percent sign', get('/tasks/%'), 'INVALID_PARAMS', { fields: ['id'] }],
    ['a tenant that is not percent-encoded correctly', get('/%/tasks'), 'INVALID_PARAMS', { fields: ['tenant'] }],
    ['an id with a slash', get('/tasks/a%2Fb'), 'TASK_NOT_FOUND'],
    ['an id that is a path', get('/tasks/..%2F..%2Fetc%2Fpasswd'), 'TASK_NOT_FOUND'],
    ['an id of dots', get('/tasks/..'), 'TASK_NOT_FOUND'],
    ['an id of encoded dots', get('/tasks/%2e%2e'), 'TASK_NOT_FOUND'],
    ['an id with a NUL', get('/tasks/%00'), 'INVALID_PARAMS', { fields: ['id'] }],
    ['an id of 512 characters', get(`/tasks/${'x'.repeat(512)}`), 'TASK_NOT_FOUND'],
    ['an id of 10,000 characters', get(`/tasks/${'x'.repeat(10_000)}`), 'INVALID_PARAMS', { fields: ['id'] }],
    ['an id in another script', get(`/tasks/${encodeURIComponent('任务')}`), 'TASK_NOT_FOUND'],
  ];

  type Call = readonly [
    what: string,
    method: string,
    path: string | ((known: Known) => string),
    reason: Reason,
    fields?: readonly string[],
  ];

  // biome-ignore format: a table reads best with one row per line
  const calls: readonly Call[] = [
    ['an unknown task [R-GET-01]', 'GET', '/tasks/nobody', 'TASK_NOT_FOUND'],
    ['the task __proto__', 'GET', '/tasks/__proto__', 'TASK_NOT_FOUND'],
    ['the task of another tenant', 'GET', ({ completed }) => `/other/tasks/${completed}`, 'TASK_NOT_FOUND'],
    ['a tenant in the query', 'GET', ({ completed }) => `/tasks/${completed}?tenant=other`, 'TASK_NOT_FOUND'],
    ['historyLength -1 [R-HLEN-04]', 'GET', ({ completed }) => `/tasks/${completed}?historyLength=-1`, 'INVALID_PARAMS', ['historyLength']],
    ['historyLength 1.5 [R-HLEN-04]', 'GET', ({ completed }) => `/tasks/${completed}?historyLength=1.5`, 'INVALID_PARAMS', ['historyLength']],
    ['an empty historyLength', 'GET', ({ completed }) => `/tasks/${completed}?historyLength=`, 'INVALID_PARAMS', ['historyLength']],
    ['historyLength 1e3', 'GET', ({ completed }) => `/tasks/${completed}?history_length=1e3`, 'INVALID_PARAMS', ['historyLength']],
    ['historyLength beyond all numbers', 'GET', `/tasks/x?historyLength=${'9'.repeat(400)}`, 'INVALID_PARAMS', ['historyLength']],
    ['historyLength twice', 'GET', ({ completed }) => `/tasks/${completed}?historyLength=1&historyLength=2`, 'INVALID_PARAMS', ['historyLength']],
    ['historyLength in two spellings', 'GET', ({ completed }) => `/tasks/${completed}?historyLength=1&history_length=2`, 'INVALID_PARAMS', ['historyLength']],
    ['pageSize 0 [R-LIST-06]', 'GET', '/tasks?pageSize=0', 'INVALID_PARAMS', ['pageSize']],
    ['pageSize 101 [R-LIST-06]', 'GET', '/tasks?pageSize=101', 'INVALID_PARAMS', ['pageSize']],
    ['pageSize -1', 'GET', '/tasks?pageSize=-1', 'INVALID_PARAMS', ['pageSize']],
    ['pageSize x', 'GET', '/tasks?pageSize=x', 'INVALID_PARAMS', ['pageSize']],
    ['pageSize 5 and a plus', 'GET', '/tasks?pageSize=%2B5', 'INVALID_PARAMS', ['pageSize']],
    ['pageSize in hexadecimal', 'GET', '/tasks?pageSize=0x10', 'INVALID_PARAMS', ['pageSize']],
    ['a page token that is none [R-LIST-10]', 'GET', '/tasks?pageToken=next', 'INVALID_PARAMS', ['pageToken']],
    ['a page token of another query [R-LIST-10]', 'GET', ({ pageToken }) => `/tasks?pageToken=${pageToken}`, 'INVALID_PARAMS', ['pageToken']],
    ['a page token of another tenant', 'GET', ({ pageToken, context }) => `/other/tasks?contextId=${context}&pageToken=${pageToken}`, 'INVALID_PARAMS', ['pageToken']],
    ['an unknown status [R-LIST-08]', 'GET', '/tasks?status=DONE', 'INVALID_PARAMS', ['status']],
    ['an empty status', 'GET', '/tasks?status=', 'INVALID_PARAMS', ['status']],
    ['a timestamp that is none', 'GET', '/tasks?statusTimestampAfter=now', 'INVALID_PARAMS', ['statusTimestampAfter']],
    ['a timestamp of hour 25', 'GET', '/tasks?statusTimestampAfter=2026-01-01T25:00:00Z', 'INVALID_PARAMS', ['statusTimestampAfter']],
    ['a timestamp of month 13', 'GET', '/tasks?statusTimestampAfter=2026-13-01T00:00:00Z', 'INVALID_PARAMS', ['statusTimestampAfter']],
    ['a timestamp in seconds', 'GET', '/tasks?statusTimestampAfter=1760000000', 'INVALID_PARAMS', ['statusTimestampAfter']],
    ['includeArtifacts 1', 'GET', '/tasks?includeArtifacts=1', 'INVALID_PARAMS', ['includeArtifacts']],
    ['includeArtifacts TRUE', 'GET', '/tasks?includeArtifacts=TRUE', 'INVALID_PARAMS', ['includeArtifacts']],
    ['everything wrong at once', 'GET', '/tasks?status=x&pageSize=x&historyLength=x&statusTimestampAfter=x&includeArtifacts=x', 'INVALID_PARAMS', ['historyLength', 'includeArtifacts', 'pageSize', 'status', 'statusTimestampAfter']],
    ['an unknown task [R-CAN-02]', 'POST', '/tasks/nobody:cancel', 'TASK_NOT_FOUND'],
    ['a completed task [R-CAN-02]', 'POST', ({ completed }) => `/tasks/${completed}:cancel`, 'TASK_NOT_CANCELABLE'],
    ['a failed task [R-CAN-02]', 'POST', ({ failed }) => `/tasks/${failed}:cancel`, 'TASK_NOT_CANCELABLE'],
    ['an unknown task [R-SUB-05]', 'POST', '/tasks/nobody:subscribe', 'TASK_NOT_FOUND'],
    ['an unknown task [R-SUB-05]', 'GET', '/tasks/nobody:subscribe', 'TASK_NOT_FOUND'],
    ['a completed task [R-SUB-02]', 'POST', ({ completed }) => `/tasks/${completed}:subscribe`, 'UNSUPPORTED_OPERATION'],
    ['a canceled task [R-SUB-02]', 'GET', ({ canceled }) => `/tasks/${canceled}:subscribe`, 'UNSUPPORTED_OPERATION'],
    ['no push here [R-OP-06]', 'POST', '/tasks/x/pushNotificationConfigs', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['no push here [R-OP-06]', 'GET', '/tasks/x/pushNotificationConfigs', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['no push here [R-OP-06]', 'GET', '/tasks/x/pushNotificationConfigs/y', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['no push here [R-OP-06]', 'DELETE', '/tasks/x/pushNotificationConfigs/y', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['no other card here [R-CARD-21]', 'GET', '/extendedAgentCard', 'UNSUPPORTED_OPERATION'],
  ];

  // biome-ignore format: a table reads best with one row per line
  const cancels: readonly Row[] = [
    ['metadata that is text', { body: '{"metadata":"x"}' }, 'INVALID_PARAMS', { fields: ['metadata'] }],
    ['another id than the path [R-REST-06]', { body: '{"id":"other"}' }, 'INVALID_PARAMS', { fields: ['id'] }],
    ['an id that is an object', { body: '{"id":{}}' }, 'INVALID_PARAMS', { fields: ['id'] }],
    ['a list', { body: '[]' }, 'INVALID_PARAMS', { fields: [''] }],
    ['no JSON', { body: '{' }, 'PARSE_ERROR'],
  ];

  const toWrong = ([what, sent, reason, more]: Row) => ({ what, sent, reason, more });
  const toCall = ([what, method, path, reason, fields]: Call) => ({ what, method, path, reason, fields });

  describe('a body is refused', () => {
    it.each(bodies.map(toWrong))('$what: $reason', ({ sent, reason, more }) =>
      refuse(sent, { reason, ...more }),
    );
  });

  describe('a request is refused', () => {
    const isReached = ({ what }: { readonly what: string }) => !unreached[name]?.test(what);
    const wrongs = requests.map(toWrong);
    it.each(wrongs.filter(isReached))('$what: $reason', ({ sent, reason, more }) =>
      refuse(sent, { reason, ...more }),
    );

    it.each(wrongs.filter((wrong) => !isReached(wrong)))('$what, before the agent is asked', ({ sent }) =>
      leavesNoTrace(served, async () => {
        const { status, text } = await ask(sent);
        expect([400, 404, 405]).toContain(status);
        expectDiscreet(text);
      }),
    );
  });

  describe('an operation is refused', () => {
    it.each(someOf(calls).map(toCall))('$method with $what: $reason', ({ method, path, reason, fields }) =>
      refuse({ method, path: typeof path === 'function' ? path(known) : path }, { reason, fields }),
    );

    it.each(someOf(cancels).map(toWrong))('a cancel with $what: $reason', ({ sent, reason, more }) =>
      refuse({ path: `/tasks/${known.asking}:cancel`, ...sent }, { reason, ...more }),
    );
  });

  describe('an odd request that is right', () => {
    // biome-ignore format: a table reads best with one row per line
    const odd: readonly [what: string, sent: Sent, path: (id: string) => string][] = [
      ['a trailing slash', {}, (id) => `/tasks/${id}/`],
      ['numbers as text, snake_case [R-REST-05]', {}, (id) => `/tasks/${id}?history_length=0`],
      ['unknown parameters', {}, (id) => `/tasks/${id}?x=1&__proto__=1&constructor=1&x`],
      ['an encoded id', {}, (id) => `/tasks/${[...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')}`],
      ['version 1.0.1 [R-VER-04]', { headers: { 'a2a-version': '1.0.1' } }, (id) => `/tasks/${id}`],
      ['the version in the query [R-VER-05]', { headers: {} }, (id) => `/tasks/${id}?A2A-Version=1.0`],
      ['the version in the header, another in the query', {}, (id) => `/tasks/${id}?a2a-version=0.3`],
      ['a body where none belongs', { body: 'x' }, (id) => `/tasks/${id}`],
      ['an Accept that nothing fits', { headers: { ...usual, accept: 'image/png' } }, (id) => `/tasks/${id}`],
      ['a fragment', {}, (id) => `/tasks/${id}?x=1#fragment`],
    ];
    it.each(odd)('%s', async (_what, sent, path) => {
      const { status, json } = await ask({ method: 'GET', ...sent, path: path(known.completed) });
      expect({ status, json }).toMatchObject({ status: 200, json: { id: known.completed } });
    });

    it('answers application/json to who accepts nothing else [R-REST-01]', async () => {
      const { headers, status } = await ask({
        ...get('/tasks/x'),
        headers: { ...usual, accept: 'application/json' },
      });
      expect([status, headers['content-type']]).toEqual([404, 'application/json']);
    });

    it('cancels without a body and without a content type', async () => {
      const { json: sent } = await ask({
        body: JSON.stringify({ message: said({ parts: [{ text: 'ask' }] }) }),
      });
      const { json } = await ask({
        path: `/tasks/${sent.task.id}:cancel`,
        headers: { 'a2a-version': '1.0' },
      });
      expect(json).toMatchObject({ id: sent.task.id, status: { state: 'TASK_STATE_CANCELED' } });
    });

    it('takes snake_case, numbers as text and enums as numbers [R-JSON-04]', async () => {
      const body = JSON.stringify({
        message: {
          message_id: 'odd-2',
          role: 1,
          parts: [{ text: 'hello', filename: '' }],
          reference_task_ids: [],
        },
        configuration: { history_length: '0', return_immediately: false },
        request_metadata: 1,
      });
      const { json } = await ask({ body });
      expect(json.task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
      expect(json.task).not.toHaveProperty('history');
    });
  });

  describe('a request that HTTP itself refuses', () => {
    // biome-ignore format: a table reads best with one row per line
    const broken: readonly [what: string, text: string, status: string][] = [
      ['no request at all', 'hello\r\n\r\n', '400'],
      ['a header with a space', 'GET /agent/tasks HTTP/1.1\r\nHost: a\r\nA2A Version: 1.0\r\n\r\n', '400'],
      ['a length that is none', 'POST /agent HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', '400'],
      ['two lengths', 'POST /agent HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', '400'],
      ['a length and chunks', 'POST /agent HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}', '400'],
      ['chunks that are none', 'POST /agent HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', '400'],
      ['20,000 bytes of headers', `GET /agent/tasks HTTP/1.1\r\nHost: a\r\nA2A-Version: ${'1'.repeat(20_000)}\r\n\r\n`, '431'],
      ['a path of 20,000 bytes', `GET /agent/tasks/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, '431'],
    ];
    it.each(broken)('%s: $2', async (_what, text, status) => {
      await leavesNoTrace(served, async () => {
        const answer = await converse(served.origin, text);
        expect(answer.split(' ')[1]).toBe(status);
        expectDiscreet(answer);
      });
    });

    it('goes on when a client leaves in the middle of a body', async () => {
      await leavesNoTrace(served, async () => {
        const { port, hostname } = new URL(served.origin);
        const { connect } = await import('node:net');
        const socket = connect(Number(port), hostname);
        await new Promise<void>((resolve) => {
          socket.write(
            'POST /agent HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
            () => resolve(),
          );
        });
        socket.destroy();
        expect((await ask(get(`/tasks/${known.completed}`))).status).toBe(200);
      });
    });
  });
});
