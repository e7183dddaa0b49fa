import { EventEmitter } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ClientError } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { checkRequest } from '../../src/guard/check-request.ts';
import {
  problemOf,
  RequestError,
  readJson,
  responseHeaders,
  sendJson,
  sendProblem,
  serveApp,
  streamLines,
} from '../../src/http/reply.ts';
import { router } from '../../src/http/router.ts';
import { createInspector } from '../../src/inspector.ts';

/** A server that answers like this, until the test ends. */
const serve = (answer: (request: IncomingMessage, response: ServerResponse) => unknown) =>
  listen(createServer((request, response) => void answer(request, response)));

describe('routes', () => {
  const routes = router({
    'GET /a/:one/b/:two': 1,
    'POST /a/:one/b/:two': 2,
    'GET /a/:one': 3,
    'GET /a/x': 4,
    GET: 5,
  });

  it.each<[string, string, number | undefined, object?]>([
    ['GET', '/a/1/b/2', 1, { one: '1', two: '2' }],
    ['POST', '/a/1/b/2', 2, { one: '1', two: '2' }],
    ['GET', '/a/x%2Fy', 3, { one: 'x/y' }],
    ['GET', '/a/x', 3, { one: 'x' }],
    ['GET', '/a/', 3, { one: '' }],
    ['GET', '', 5, {}],
    ['DELETE', '/a/x', undefined],
    ['GET', '/b/x', undefined],
    ['GET', '/a/x/', undefined],
    ['GET', '/a', undefined],
    ['GET', '/a/%zz', undefined],
  ])('lead %s %s to %s', (method, path, target, params) => {
    expect(routes.find(method, path)).toEqual(target && { target, params });
  });
});

describe('a body', () => {
  const ask = async (body: string, type: string | undefined, read?: unknown) => {
    const url = await serve(async (request, response) => {
      if (read !== undefined) {
        for await (const _ of request);
        Object.assign(request, { body: read });
      }
      await readJson(request).then(
        (value) => sendJson(response, 200, { value }),
        (error) => sendProblem(response, error),
      );
    });
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    });
    return [response.status, await response.json()];
  };

  it.each(['application/json', 'APPLICATION/JSON', 'application/json; charset=utf-8'])(
    'is read as %s',
    async (type) => {
      expect(await ask('{"a":"ä"}', type)).toEqual([200, { value: { a: 'ä' } }]);
    },
  );

  it.each(['text/plain', 'text/application/json', 'application/jsonx', undefined])(
    'is none as %s',
    async (type) => {
      expect(await ask('{}', type)).toEqual([415, { problem: { message: 'The body must be JSON' } }]);
    },
  );

  it('is none if it is no JSON, and is what a parser before made of it', async () => {
    expect(await ask('{', 'application/json')).toEqual([
      400,
      { problem: { message: 'The body is no JSON' } },
    ]);
    expect(await ask('{', 'application/json', { b: 1 })).toEqual([200, { value: { b: 1 } }]);
  });
});

describe('a problem', () => {
  const cause = new Error('ECONNREFUSED');
  it.each<[unknown, number, object]>([
    [new RequestError(409, 'Gone'), 409, { message: 'Gone' }],
    [new A2AError('TASK_NOT_FOUND', 'No task'), 502, { message: 'No task', code: 'TASK_NOT_FOUND' }],
    [
      new A2AError('UNAUTHENTICATED', 'Who?', { challenge: 'Bearer' }),
      502,
      { message: 'Who?', code: 'UNAUTHENTICATED', details: { challenge: 'Bearer' } },
    ],
    [
      new A2AError('UNAVAILABLE', 'Later', { metadata: { a: 'b' } }),
      502,
      { message: 'Later', code: 'UNAVAILABLE', details: { metadata: { a: 'b' } } },
    ],
    [new ClientError('NETWORK', 'No contact'), 502, { message: 'No contact', code: 'NETWORK' }],
    [
      new ClientError('NETWORK', 'No contact', cause),
      502,
      { message: 'No contact', code: 'NETWORK', details: { cause: 'ECONNREFUSED' } },
    ],
    [new ClientError('NETWORK', 'No contact', 'secret'), 502, { message: 'No contact', code: 'NETWORK' }],
    [
      Object.assign(new Error('Full'), { name: 'StoreError', code: 'FULL' }),
      502,
      { message: 'Full', code: 'FULL' },
    ],
    [new Error('secret'), 502, { message: 'The inspector failed', code: 'INTERNAL_ERROR' }],
    [undefined, 502, { message: 'The inspector failed', code: 'INTERNAL_ERROR' }],
  ])('that is %s', async (error, status, problem) => {
    expect(JSON.parse(JSON.stringify(problemOf(error)))).toEqual(problem);
    const response = await fetch(await serve((_, reply) => sendProblem(reply, error)));
    expect([response.status, await response.json()]).toEqual([status, { problem }]);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      ...responseHeaders,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(JSON.stringify({ problem }))),
    });
  });

  it('after the headers ends the connection', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200).write('half');
      sendProblem(response, new Error('Broken'));
    });
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
  });
});

it('every response keeps the page to itself', () => {
  expect(responseHeaders).toEqual({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' blob:; media-src blob:; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
});

describe('the files of the app', () => {
  it('are those of its folder, with their types, and assets forever', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'assets', 'more'), { recursive: true });
    const files = {
      'index.html': '<p>',
      'assets/a.js': '1',
      'assets/a.css': '2',
      'assets/more/a.svg': '3',
      'a.bin': '4',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const app = serveApp(folder);
    const url = await serve((request, response) => {
      if (!app(request.url!, response)) response.writeHead(404).end();
    });
    const get = async (path: string) => {
      const response = await fetch(url + path);
      const { headers } = response;
      return [
        response.status,
        headers.get('content-type'),
        headers.get('cache-control'),
        await response.text(),
        headers.get('x-frame-options'),
      ];
    };
    const kept = 'private, max-age=31536000, immutable';
    expect(await get('/')).toEqual([200, 'text/html; charset=utf-8', 'no-store', '<p>', 'DENY']);
    expect(await get('/index.html')).toEqual([200, 'text/html; charset=utf-8', 'no-store', '<p>', 'DENY']);
    expect(await get('/assets/a.js')).toEqual([200, 'text/javascript; charset=utf-8', kept, '1', 'DENY']);
    expect(await get('/assets/a.css')).toEqual([200, 'text/css; charset=utf-8', kept, '2', 'DENY']);
    expect(await get('/assets/more/a.svg')).toEqual([200, 'image/svg+xml', kept, '3', 'DENY']);
    expect(await get('/a.bin')).toEqual([200, 'application/octet-stream', 'no-store', '4', 'DENY']);
    for (const path of ['/assets', '/assets/', '/other', '/assets/..%2fa.bin'])
      expect((await get(path))[0]).toBe(404);
    // Read once.
    writeFileSync(join(folder, 'late.js'), '5');
    expect((await get('/late.js'))[0]).toBe(404);
  });

  it('are compressed for browsers that accept it, but for what gains nothing', async () => {
    const folder = temporaryFolder();
    const script = 'let a = 1;\n'.repeat(500);
    writeFileSync(join(folder, 'a.js'), script);
    writeFileSync(join(folder, 'a.woff2'), script);
    const app = serveApp(folder);
    const url = await serve((request, response) => {
      app(request.url!, response, String(request.headers['accept-encoding'] ?? ''));
    });
    const get = async (path: string, encoding: string) => {
      const { headers } = await fetch(url + path, { headers: { 'accept-encoding': encoding } });
      return [
        headers.get('content-encoding'),
        Number(headers.get('content-length')) < 500,
        headers.get('vary'),
      ];
    };
    expect(await get('/a.js', 'gzip, deflate, br')).toEqual(['gzip', true, 'accept-encoding']);
    expect(await get('/a.js', 'br;q=1.0, *')).toEqual(['gzip', true, 'accept-encoding']);
    for (const refused of ['identity', 'gzip;q=0', 'br, gzip; q=0.0', 'xgzip'])
      expect(await get('/a.js', refused)).toEqual([null, false, 'accept-encoding']);
    expect(await get('/a.woff2', 'gzip')).toEqual([null, false, 'accept-encoding']);
    expect(await (await fetch(`${url}/a.js`)).text()).toBe(script);
  });

  it('are served by the inspector without a token, to those who only read', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'index.html'), '<p>'.repeat(99));
    const handler = createInspector({ url: 'http://127.0.0.1:9', token: 'a-token-of-16-ch' }, folder);
    const url = await listen(createServer(handler));
    const page = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
    expect([page.status, page.headers.get('content-encoding'), await page.text()]).toEqual([
      200,
      'gzip',
      '<p>'.repeat(99),
    ]);
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    for (const [method, path] of [
      ['POST', '/'],
      ['GET', '/missing'],
      ['GET', '/api'],
    ] as const) {
      const response = await fetch(url + path, { method });
      expect([response.status, await response.json()]).toEqual([
        404,
        { problem: { message: `There is nothing at ${path}` } },
      ]);
    }
    expect((await fetch(`${url}/api/missing`)).status).toBe(401);
  });

  it('are said to be missing before they are built', async () => {
    const app = serveApp(join(temporaryFolder(), 'none'));
    const served: boolean[] = [];
    const url = await serve((request, response) => {
      const isServed = app(request.url!, response);
      served.push(isServed);
      if (!isServed && !response.headersSent) response.writeHead(404).end();
    });
    const response = await fetch(url);
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('x-frame-options'),
    ]).toEqual([503, 'text/plain; charset=utf-8', 'DENY']);
    expect(await response.text()).toBe('The app of the inspector is not built. Run `pnpm build`.\n');
    expect((await fetch(`${url}/assets/a.js`)).status).toBe(404);
    expect(served).toEqual([true, false]);
  });
});

describe('a feed', () => {
  it('is a line for each value, after an empty one, and ends with them', async () => {
    const url = await serve((_, response) =>
      streamLines(response, async function* () {
        yield { a: 1 };
        yield 'x'.repeat(200_000);
        yield [2];
      }),
    );
    const response = await fetch(url);
    const lines = (await response.text()).split('\n');
    expect(lines.map((line) => line.slice(0, 9))).toEqual(['', '{"a":1}', '"xxxxxxxx', '[2]', '']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-frame-options': 'DENY',
    });
  });

  it('goes on only when its reader has read', async () => {
    const written: string[] = [];
    const response = Object.assign(new EventEmitter(), {
      writeHead() {},
      write: (text: string) => void written.push(text),
      end: () => written.push('end'),
    });
    const fed = streamLines(response as never, async function* (signal) {
      for (let n = 1; !signal.aborted; n += 1) yield n;
    });
    for (const expected of ['1\n', '2\n', '3\n']) {
      await expect.poll(() => response.listenerCount('drain')).toBe(1);
      expect(written.at(-1)).toBe(expected);
      if (expected !== '3\n') response.emit('drain');
    }
    response.emit('close');
    await fed;
    expect(written).toEqual(['\n', '1\n', '2\n', '3\n', 'end']);
  });
});

describe('a request', () => {
  const check = (headers: object, more: object = {}, isLocal = true) => {
    const request = {
      headers: { host: 'localhost:1', ...headers },
      socket: { remoteAddress: '127.0.0.1' },
      method: 'GET',
      url: '/',
      ...more,
    };
    try {
      checkRequest(request as never, ['ops.example'], isLocal);
    } catch (error) {
      const { status, message } = error as RequestError;
      return { status, message };
    }
    return undefined;
  };
  const opened = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  const otherOrigin = { status: 403, message: 'Pages of another origin may not use the inspector' };
  const otherSite = { status: 403, message: 'Pages of another site may not use the inspector' };

  it.each<[string, object, object, object | undefined]>([
    ['of this machine', {}, {}, undefined],
    ['under a name that is allowed', { host: 'ops.example:80' }, {}, undefined],
    [
      'under another name',
      { host: 'sub.ops.example' },
      {},
      { status: 421, message: 'The inspector is not served under the name sub.ops.example' },
    ],
    [
      'without a name',
      { host: undefined },
      {},
      { status: 421, message: 'The inspector is not served under the name (none)' },
    ],
    [
      'of another machine',
      {},
      { socket: { remoteAddress: '192.0.2.1' } },
      { status: 403, message: 'The inspector answers this machine only' },
    ],
    ['of this machine over IPv6', {}, { socket: { remoteAddress: '::ffff:127.0.0.1' } }, undefined],
    ['of its own page', { origin: 'http://localhost:1', 'sec-fetch-site': 'same-origin' }, {}, undefined],
    ['of a page of another port', { origin: 'http://localhost:2' }, {}, otherOrigin],
    ['of a page of no origin', { origin: 'null' }, {}, otherOrigin],
    ['of a bookmark', { 'sec-fetch-site': 'none' }, {}, undefined],
    ['of a page of the same site', { 'sec-fetch-site': 'same-site' }, {}, otherSite],
    ['that opens the page', opened, {}, undefined],
    ['that opens the page with a query', opened, { url: '/?a=/api/' }, undefined],
    ['that opens the page without an address', opened, { url: undefined }, undefined],
    ['that posts to the page', opened, { method: 'POST' }, otherSite],
    ['that opens the API', opened, { url: '/api/session' }, otherSite],
    ['that frames the page', { ...opened, 'sec-fetch-dest': 'iframe' }, {}, otherSite],
    ['that fetches the page', { ...opened, 'sec-fetch-mode': 'cors' }, {}, otherSite],
  ])('%s is answered or refused', (_what, headers, more, refusal) => {
    expect(check(headers, more)).toEqual(refusal);
  });

  it('of another machine is answered where `authenticate` decides', () => {
    const far = { socket: { remoteAddress: '192.0.2.1' } };
    expect(check({}, far, false)).toBeUndefined();
  });
});
