import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange, type Sent } from '../../../../../test/kit/http/exchange.ts';
import { call, leavesNoTrace, prepare, rpcBody, usual } from '../../../../../test/kit/http/known-tasks.ts';
import { mounts } from '../../../../../test/kit/http/mounts.ts';
import {
  expectDiscreet,
  expectRefusal,
  type Reason,
  type Refusal,
} from '../../../../../test/kit/http/refusal.ts';
import { type Served, serveHttp } from '../../../../../test/kit/http/serve-http.ts';
import { wrongCalls } from '../../../../../test/kit/http/wrong-calls.ts';
import { type Known, said, wrongSends } from '../../../../../test/kit/http/wrong-sends.ts';

describe.each(mounts)('%s', (name, mount) => {
  // The mount is not involved in what is wrong here: one has the whole table, the others a ninth of it.
  const sends = name === 'node:http' ? wrongSends : wrongSends.filter((_, index) => index % 9 === 0);
  let served: Served;
  let known: Known;
  beforeAll(async () => {
    served = await serveHttp({}, mount);
    known = await prepare(served);
  });
  afterAll(() => served.close());

  const post = (sent: Sent) =>
    exchange(served.origin, { method: 'POST', path: '/agent', headers: usual, ...sent });

  /** Sends a wrong request and checks the answer. */
  const refuse = (sent: Sent, refusal: Refusal) =>
    leavesNoTrace(served, async () => expectRefusal('JSONRPC', await post(sent), refusal));

  describe('SendMessage refuses [R-SEND-12] [R-OP-05] [R-ERR-02]', () => {
    it.each(sends)('$what: $reason', async ({ params, reason, fields }) => {
      const given = typeof params === 'function' ? params(known) : params;
      await refuse({ body: rpcBody('SendMessage', given) }, { reason, fields });
    });
  });

  describe('SendStreamingMessage refuses before it streams [R-RPC-08]', () => {
    const some = sends.filter((_, index) => index % 9 === 0);
    it.each(some)('$what: $reason', async ({ params, reason, fields }) => {
      const given = typeof params === 'function' ? params(known) : params;
      await refuse({ body: rpcBody('SendStreamingMessage', given) }, { reason, fields });
    });
  });

  const invalidUtf8 = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":"r","method":"'),
    Buffer.of(0xff, 0xc0),
  ]);
  const nested = (levels: number) =>
    rpcBody('GetTask', { id: 'x', deep: 'HERE' }).replace(
      '"HERE"',
      `${'['.repeat(levels)}${']'.repeat(levels)}`,
    );
  const bare = (more: object) =>
    JSON.stringify({ jsonrpc: '2.0', id: 'r', method: 'GetTask', params: { id: 'x' }, ...more });

  type Row = readonly [what: string, sent: Sent, reason: Reason, more?: Omit<Refusal, 'reason'>];

  // biome-ignore format: a table reads best with one row per line
  const bodies: readonly Row[] = [
    ['no body', {}, 'PARSE_ERROR', { id: null }],
    ['an empty body', { body: '' }, 'PARSE_ERROR', { id: null }],
    ['blanks', { body: ' \n ' }, 'PARSE_ERROR', { id: null }],
    ['a word', { body: 'hello' }, 'PARSE_ERROR', { id: null }],
    ['a truncated object', { body: rpcBody('GetTask', { id: 'x' }).slice(0, -1) }, 'PARSE_ERROR', { id: null }],
    ['two objects', { body: `${rpcBody('GetTask', {})}${rpcBody('GetTask', {})}` }, 'PARSE_ERROR', { id: null }],
    ['single quotes', { body: "{'jsonrpc':'2.0'}" }, 'PARSE_ERROR', { id: null }],
    ['a comma too many', { body: '{"jsonrpc":"2.0",}' }, 'PARSE_ERROR', { id: null }],
    ['a comment', { body: '{"jsonrpc":"2.0"/* */}' }, 'PARSE_ERROR', { id: null }],
    ['NaN', { body: '{"jsonrpc":"2.0","id":NaN}' }, 'PARSE_ERROR', { id: null }],
    ['a control character in text', { body: '{"jsonrpc":"2\n.0"}' }, 'PARSE_ERROR', { id: null }],
    ['XML', { body: '<?xml version="1.0"?><a/>' }, 'PARSE_ERROR', { id: null }],
    ['bytes that are not UTF-8', { body: invalidUtf8 }, 'PARSE_ERROR', { id: null }],
    ['UTF-16', { body: Buffer.from(rpcBody('GetTask', { id: 'x' }), 'utf16le') }, 'PARSE_ERROR', { id: null }],
    ['null', { body: 'null' }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['a number', { body: '7' }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['text', { body: '"SendMessage"' }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['an empty batch', { body: '[]' }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['a batch of one [R-RPC-04]', { body: `[${bare({})}]` }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['an empty object', { body: '{}' }, 'INVALID_REQUEST', { id: null, fields: ['id', 'jsonrpc', 'method'] }],
    ['a notification [R-RPC-04]', { body: bare({ id: undefined }) }, 'INVALID_REQUEST', { id: null, fields: ['id'] }],
    ['an id that was rounded', { body: bare({}).replace('"r"', '9007199254740993') }, 'INVALID_REQUEST', { id: null, fields: ['id'] }],
    ['an id that is an object', { body: bare({ id: {} }) }, 'INVALID_REQUEST', { id: null, fields: ['id'] }],
    ['an id that is a list', { body: bare({ id: ['r'] }) }, 'INVALID_REQUEST', { id: null, fields: ['id'] }],
    ['an id that is true', { body: bare({ id: true }) }, 'INVALID_REQUEST', { id: null, fields: ['id'] }],
    ['an id too large for a number', { body: bare({}).replace('"r"', '1e400') }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['no jsonrpc', { body: bare({ jsonrpc: undefined }) }, 'INVALID_REQUEST', { fields: ['jsonrpc'] }],
    ['jsonrpc 1.0', { body: bare({ jsonrpc: '1.0' }) }, 'INVALID_REQUEST', { fields: ['jsonrpc'] }],
    ['jsonrpc as a number', { body: bare({ jsonrpc: 2.0 }) }, 'INVALID_REQUEST', { fields: ['jsonrpc'] }],
    ['no method', { body: bare({ method: undefined }) }, 'INVALID_REQUEST', { fields: ['method'] }],
    ['a method that is a list', { body: bare({ method: ['GetTask'] }) }, 'INVALID_REQUEST', { fields: ['method'] }],
    ['a method that is empty', { body: bare({ method: '' }) }, 'METHOD_NOT_FOUND'],
    ['an unknown method', { body: bare({ method: 'DropTables' }) }, 'METHOD_NOT_FOUND'],
    ['a method in the wrong case', { body: bare({ method: 'sendMessage' }) }, 'METHOD_NOT_FOUND'],
    ['a method of 0.3', { body: bare({ method: 'message/send' }) }, 'METHOD_NOT_FOUND'],
    ['the method constructor', { body: bare({ method: 'constructor' }) }, 'METHOD_NOT_FOUND'],
    ['the method __proto__', { body: bare({ method: '__proto__' }) }, 'METHOD_NOT_FOUND'],
    ['the method toString', { body: bare({ method: 'toString' }) }, 'METHOD_NOT_FOUND'],
    ['a method of 100,000 characters', { body: bare({ method: 'x'.repeat(100_000) }) }, 'METHOD_NOT_FOUND'],
    ['params that are a list', { body: bare({ params: ['x'] }) }, 'INVALID_PARAMS', { fields: ['params'] }],
    ['params that are text', { body: bare({ params: 'x' }) }, 'INVALID_PARAMS', { fields: ['params'] }],
    ['params that are false', { body: bare({ params: false }) }, 'INVALID_PARAMS', { fields: ['params'] }],
    ['no params where some are needed', { body: bare({ params: undefined }) }, 'INVALID_PARAMS', { fields: ['id'] }],
    ['101 levels', { body: nested(99) }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['100,000 levels', { body: nested(100_000) }, 'INVALID_REQUEST', { id: null, fields: [''] }],
    ['100,000 levels that do not end', { body: '['.repeat(100_000) }, 'PARSE_ERROR', { id: null }],
    ['100,000 levels of objects', { body: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}` }, 'INVALID_REQUEST', { id: null, fields: [''] }],
  ];

  const typed = (type: string | undefined): Sent => ({
    headers: { 'a2a-version': '1.0', ...(type !== undefined && { 'content-type': type }) },
    body: bare({}),
  });
  const versioned = (version: string | string[] | undefined, path = '/agent'): Sent => ({
    headers: { 'content-type': 'application/json', ...(version !== undefined && { 'a2a-version': version }) },
    path,
    body: bare({}),
  });

  // biome-ignore format: a table reads best with one row per line
  const requests: readonly Row[] = [
    ['no content type', typed(undefined), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['an empty content type', typed(''), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['text/plain', typed('text/plain'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['a form', typed('application/x-www-form-urlencoded'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['a multipart form', typed('multipart/form-data; boundary=x'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['a type that only begins like JSON', typed('application/jsonp'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['a type named like a prototype', typed('__proto__'), 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['no version, which is 0.3 [R-VER-02] [R-VER-03]', versioned(undefined), 'VERSION_NOT_SUPPORTED'],
    ['an empty version', versioned(''), 'VERSION_NOT_SUPPORTED'],
    ['version 0.3', versioned('0.3'), 'VERSION_NOT_SUPPORTED'],
    ['version 2.0', versioned('2.0'), 'VERSION_NOT_SUPPORTED'],
    ['version 1', versioned('1'), 'VERSION_NOT_SUPPORTED'],
    ['version 1.1', versioned('1.1'), 'VERSION_NOT_SUPPORTED'],
    ['version 01.0', versioned('01.0'), 'VERSION_NOT_SUPPORTED'],
    ['a version that is none', versioned('latest; drop'), 'VERSION_NOT_SUPPORTED'],
    ['two versions', versioned(['1.0', '0.3']), 'VERSION_NOT_SUPPORTED'],
    ['version 2.0 in the query [R-VER-05]', versioned(undefined, '/agent?A2A-Version=2.0'), 'VERSION_NOT_SUPPORTED'],
    ['version 2.0 in the header, 1.0 in the query', versioned('2.0', '/agent?A2A-Version=1.0'), 'VERSION_NOT_SUPPORTED'],
    ['GET', { method: 'GET' }, 'METHOD_NOT_ALLOWED', { id: null, headers: { allow: 'POST' } }],
    ['PUT', { method: 'PUT', body: bare({}) }, 'METHOD_NOT_ALLOWED', { id: null, headers: { allow: 'POST' } }],
    ['DELETE', { method: 'DELETE' }, 'METHOD_NOT_ALLOWED', { id: null, headers: { allow: 'POST' } }],
    ['PATCH with a body that is none', { method: 'PATCH', body: 'x' }, 'METHOD_NOT_ALLOWED', { id: null, headers: { allow: 'POST' } }],
  ];

  const toWrong = ([what, sent, reason, more]: Row) => ({ what, sent, reason, more });

  describe('a body is refused', () => {
    it.each(bodies.map(toWrong))('$what: $reason', ({ sent, reason, more }) =>
      refuse(sent, { reason, ...more }),
    );
  });

  describe('a request is refused', () => {
    it.each(requests.map(toWrong))('$what: $reason', ({ sent, reason, more }) =>
      refuse(sent, { reason, ...more }),
    );
  });

  describe('an operation is refused', () => {
    it.each(wrongCalls)('$operation with $what: $reason', ({ operation, params, reason, fields }) =>
      refuse(
        { body: rpcBody(operation, typeof params === 'function' ? params(known) : params) },
        { reason, fields },
      ),
    );
  });

  describe('an odd request that is right', () => {
    // biome-ignore format: a table reads best with one row per line
    const odd: readonly [what: string, sent: Sent][] = [
      ['a trailing slash', { path: '/agent/' }],
      ['a charset', { headers: { ...usual, 'content-type': 'Application/JSON; charset="UTF-8"' } }],
      ['application/a2a+json', { headers: { ...usual, 'content-type': 'application/a2a+json' } }],
      ['version 1.0.1 [R-VER-04]', { headers: { ...usual, 'a2a-version': ' 1.0.1 ' } }],
      ['the version in the query [R-VER-05]', { headers: { 'content-type': 'application/json' }, path: '/agent?a2a-version=1.0' }],
      ['the version in a header of any case [R-HDR-01]', { headers: { 'CONTENT-TYPE': 'application/json', 'A2A-VERSION': '1.0' } }],
      ['unknown extensions, twice, with blanks', { headers: { ...usual, 'a2a-extensions': [' https://a.example ,, ', 'https://b.example'] } }],
      ['an Accept that nothing fits', { headers: { ...usual, accept: 'text/html' } }],
      ['headers named like a prototype', { headers: { ...usual, __proto__: 'x', constructor: 'x' } }],
    ];
    it.each(odd)('%s', async (_what, sent) => {
      const { status, json } = await post({ body: rpcBody('GetTask', { id: known.completed }), ...sent });
      expect({ status, json }).toMatchObject({ status: 200, json: { result: { id: known.completed } } });
    });

    it.each([7, 0, -1, 'x'.repeat(10_000), ''])(
      'the id %s comes back as it was sent [R-RPC-03]',
      async (id) => {
        const { json } = await post({ body: rpcBody('GetTask', { id: known.completed }, { id }) });
        expect(json).toMatchObject({ jsonrpc: '2.0', id, result: { id: known.completed } });
      },
    );

    it('takes snake_case, numbers as text, enums as numbers and base64 of the other alphabet [R-JSON-04] [R-JSON-08]', async () => {
      const contextId = crypto.randomUUID();
      const message = {
        message_id: `odd-${contextId}`,
        role: 1,
        parts: [
          { raw: '-_-_', media_type: 'application/json' },
          { text: 'hello', unknown: { deep: 1 } },
        ],
        context_id: contextId,
        task_id: '',
        reference_task_ids: null,
      };
      const configuration = { history_length: '1', return_immediately: false, acceptedOutputModes: null };
      const { task } = await call(served.origin, 'SendMessage', { message, configuration, extra: [1] });
      expect(task).toMatchObject({ contextId, status: { state: 'TASK_STATE_COMPLETED' } });
      expect(task.history).toHaveLength(1);
      const got = await call(served.origin, 'GetTask', { id: task.id });
      expect(got.history[0]).toEqual({
        messageId: message.message_id,
        role: 'ROLE_USER',
        contextId,
        taskId: task.id,
        parts: [{ raw: '+/+/', mediaType: 'application/json' }, { text: 'hello' }],
      });
      const query = { context_id: contextId, page_size: '5', status: 3 };
      const page = await call(served.origin, 'ListTasks', query);
      expect(page).toMatchObject({ totalSize: 1, pageSize: 5 });
    });

    it('takes the last of two equal keys, drops __proto__ and pollutes nothing', async () => {
      const body = rpcBody('SendMessage', {
        message: said({ parts: [{ data: { kept: 1 } }], metadata: { kept: 2 } }),
      })
        .replace(
          '"kept":1',
          '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"twice":1,"twice":2',
        )
        .replace('"kept":2', '"__proto__":{"polluted":3},"hasOwnProperty":4');
      const { json, text } = await post({ body });
      const [asked] = json.result.task.history;
      expect(text).not.toContain('__proto__');
      expect(asked.parts[0].data).toEqual({ constructor: { prototype: { polluted: 2 } }, twice: 2 });
      expect(asked.metadata).toEqual({ hasOwnProperty: 4 });
      expect({}).not.toHaveProperty('polluted');
    });

    it('takes 100 levels [R-OP-05]', async () => {
      const { json } = await post({ body: nested(98) });
      expect(json.error.code).toBe(-32001);
    });

    it('keeps numbers as JSON has them', async () => {
      const body = rpcBody('SendMessage', { message: said({ parts: [{ data: 0 }] }) }).replace(
        '"data":0',
        '"data":[1e308,-0,1e-400,123456789012345678901]',
      );
      const { json, text } = await post({ body });
      expect(json.result.task.history[0].parts[0].data, text).toHaveLength(4);
      expectDiscreet(text);
    });

    it('refuses a number that JSON would write back as null', async () => {
      const body = rpcBody('SendMessage', { message: said({ parts: [{ data: 0 }] }) });
      await leavesNoTrace(served, async () =>
        expectRefusal('JSONRPC', await post({ body: body.replace('"data":0', '"data":[1e400]') }), {
          reason: 'INVALID_REQUEST',
          fields: [''],
          id: null,
        }),
      );
    });
  });
});
