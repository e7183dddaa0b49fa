import { gzipSync } from 'node:zlib';
import type { Logger } from '@batonjs/server';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { abandon, exchange, type Sent } from '../../../test/kit/http/exchange.ts';
import { leavesNoTrace, prepare, rpcBody, usual } from '../../../test/kit/http/known-tasks.ts';
import { expectRefusal, type Reason } from '../../../test/kit/http/refusal.ts';
import { type Served, serveHttp } from '../../../test/kit/http/serve-http.ts';
import { type Known, said, wrongSends } from '../../../test/kit/http/wrong-sends.ts';
import { a2aExpress } from '../src/index.ts';

let served: Served;
let known: Known;
const logged: Parameters<Logger>[] = [];
beforeAll(async () => {
  const logger: Logger = (...entry) => logged.push(entry);
  served = await serveHttp({ logger }, (server) =>
    express().use('/agent', a2aExpress(server)).use('/parsed', express.json(), a2aExpress(server)),
  );
  known = await prepare(served);
});
afterAll(() => served.close());

// biome-ignore format: a table reads best with one row per line
const bindings = [
  { binding: 'JSONRPC', path: '/parsed', wrap: (params: object) => rpcBody('SendMessage', params), notObject: 'INVALID_REQUEST', id: 'r' },
  { binding: 'HTTP+JSON', path: '/parsed/message:send', wrap: (params: object) => JSON.stringify(params), notObject: 'INVALID_PARAMS', id: undefined },
] as const;

describe.each(bindings)('behind express.json(), $binding', ({ binding, path, wrap, notObject }) => {
  const post = (sent: Sent) => exchange(served.origin, { method: 'POST', path, headers: usual, ...sent });

  const fitting = wrongSends.filter(({ params }) => JSON.stringify({ params }).length < 90_000);
  it.each(fitting)('refuses $what: $reason', async ({ params, reason, fields }) => {
    const given = typeof params === 'function' ? params(known) : params;
    await leavesNoTrace(served, async () =>
      expectRefusal(binding, await post({ body: wrap(given) }), { reason, fields }),
    );
  });

  const type = (contentType: string) => ({ ...usual, 'content-type': contentType });
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  // biome-ignore format: a table reads best with one row per line
  const bodies: readonly [what: string, sent: Sent, reason: Reason, fields?: readonly string[]][] = [
    ['a truncated object', { body: wrap({}).slice(0, -1) }, 'PARSE_ERROR'],
    ['HTML', { body: '<script>alert(1)</script>' }, 'PARSE_ERROR'],
    ['a number', { body: '7' }, notObject, ['']],
    ['null', { body: 'null' }, notObject, ['']],
    ['a list', { body: '[1]' }, notObject, ['']],
    ['5,000 levels', { body: deep }, 'INVALID_REQUEST', ['']],
    ['a type that is not JSON', { body: wrap({}), headers: type('text/plain') }, 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['an unknown compression', { body: Buffer.of(0xff, 0xfe), headers: { ...usual, 'content-encoding': 'magic' } }, 'UNSUPPORTED_MEDIA_TYPE'],
    ['gzip that is none', { body: wrap({}), headers: { ...usual, 'content-encoding': 'gzip' } }, 'PARSE_ERROR'],
    ['a charset that there is not', { body: wrap({}), headers: type('application/json; charset=utf-42') }, 'PARSE_ERROR'],
    ['more than the parser takes', { body: wrap({ message: said({ parts: [{ text: 'x'.repeat(110_000) }] }) }) }, 'PAYLOAD_TOO_LARGE'],
    ['more than the parser takes, in chunks', { body: wrap({ message: said({ parts: [{ text: 'x'.repeat(110_000) }] }) }), chunked: true }, 'PAYLOAD_TOO_LARGE'],
    ['more than the server takes', { body: wrap({ message: said({ parts: [{ text: 'x'.repeat(5_000_000) }] }) }) }, 'PAYLOAD_TOO_LARGE'],
  ];
  it.each(bodies.map(([what, sent, reason, fields]) => ({ what, sent, reason, fields })))(
    'refuses $what: $reason',
    async ({ sent, reason, fields }) => {
      await leavesNoTrace(served, async () => {
        const reply = await post(sent);
        const readable = reason === 'CONTENT_TYPE_NOT_SUPPORTED' ? 'r' : null;
        expectRefusal(binding, reply, { reason, fields, id: readable });
        if (reason === 'PAYLOAD_TOO_LARGE') expect(reply.text).toMatch(/larger than (102400|4194304) bytes/);
      });
    },
  );

  it.each([
    ['application/json', {}],
    ['application/a2a+json, which the parser leaves alone', { headers: type('application/a2a+json') }],
    ['a charset that the parser does not know', { headers: type('application/json; charset=latin1') }],
    ['chunks', { chunked: true }],
  ])('takes %s', async (_what, sent) => {
    const { status, json } = await post({ body: wrap({ message: said() }), ...sent });
    expect(status).toBe(200);
    expect((json.result ?? json).task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('takes what the parser unpacked', async () => {
    const headers = { ...usual, 'content-encoding': 'gzip' };
    const { json } = await post({ body: gzipSync(wrap({ message: said() })), headers });
    expect((json.result ?? json).task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('drops __proto__ that the parser kept', async () => {
    const body = wrap({ message: said({ metadata: { kept: 1 } }) }).replace(
      '"kept":1',
      '"__proto__":{"a":1}',
    );
    const { text, status } = await post({ body });
    expect(status).toBe(200);
    expect(text).not.toContain('__proto__');
  });

  it('logs a client that leaves in the middle of a request, and not as an error', async () => {
    logged.length = 0;
    await abandon(served.origin, path, wrap({ message: said() }));
    await vi.waitFor(() => expect(logged).toHaveLength(1));
    expect(logged[0]!.slice(0, 2)).toEqual(['info', 'A client left before its request was complete']);
  });
});
