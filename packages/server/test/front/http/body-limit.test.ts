import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange, type Sent } from '../../../../../test/kit/http/exchange.ts';
import { leavesNoTrace, rpcBody, usual } from '../../../../../test/kit/http/known-tasks.ts';
import { mounts } from '../../../../../test/kit/http/mounts.ts';
import { expectRefusal } from '../../../../../test/kit/http/refusal.ts';
import { type Served, serveHttp } from '../../../../../test/kit/http/serve-http.ts';
import { said } from '../../../../../test/kit/http/wrong-sends.ts';

const limit = 4 * 1024 * 1024;
const largest: [string, boolean, number][] = [
  ['declared, by far', false, 5 * limit],
  ['in chunks, by far', true, 5 * limit],
];
describe.each(mounts)('%s', (name, mount) => {
  // Large bodies cost most of the time of this file: one mount has several of each, and the largest.
  const isFirst = name === mounts[0]?.[0];
  const rounds = isFirst ? 2 : 1;
  let served: Served;
  let small: Served;
  beforeAll(async () => {
    served = await serveHttp({}, mount);
    small = await serveHttp({ limits: { bodyBytes: 10_000, jsonDepth: 10 } }, mount);
  });
  afterAll(() => Promise.all([served.close(), small.close()]));

  /** A message of so many bytes in all. */
  const sized = (bytes: number, wrap: (params: object) => string) => {
    const frame = Buffer.byteLength(wrap({ message: said({ parts: [{ text: '' }] }) }));
    return wrap({ message: said({ parts: [{ text: 'x'.repeat(bytes - frame) }] }) });
  };

  const bindings = [
    { binding: 'JSONRPC', path: '/agent', wrap: (params: object) => rpcBody('SendMessage', params) },
    { binding: 'HTTP+JSON', path: '/agent/message:send', wrap: (params: object) => JSON.stringify(params) },
  ] as const;

  describe.each(bindings)('$binding', ({ binding, path, wrap }) => {
    const post = ({ origin }: Served, sent: Sent) =>
      exchange(origin, { method: 'POST', path, headers: usual, ...sent });

    it.each(
      [['of 110 KB', 110_000] as const, ['of 4 MiB less some', limit - 10] as const].slice(
        0,
        isFirst || binding === 'JSONRPC' ? 2 : 1,
      ),
    )('takes a body %s', async (_what, bytes) => {
      for (const chunked of [false, true]) {
        const { status, json } = await post(served, { body: sized(bytes, wrap), chunked });
        expect(status).toBe(200);
        expect((json.result ?? json).task.status.state).toBe('TASK_STATE_COMPLETED');
      }
    });

    it.each<[string, boolean, number]>([
      ['declared', false, limit + 1],
      ['in chunks', true, limit + 1],
      ...(isFirst && binding === 'JSONRPC' ? largest : []),
    ])('refuses a body over the limit, %s [R-OP-05]', async (_what, chunked, bytes) => {
      const body = sized(bytes, wrap);
      await leavesNoTrace(served, async () => {
        for (let round = 0; round < rounds; round++) {
          const reply = await post(served, { body, chunked });
          expectRefusal(binding, reply, { reason: 'PAYLOAD_TOO_LARGE', id: null });
          expect(reply.text).toContain(String(limit));
        }
      });
      expect((await post(served, { body: sized(1_000, wrap) })).status).toBe(200);
    });

    it('refuses a body over a limit that was set, of bytes and of levels', async () => {
      for (const chunked of [false, true]) {
        expectRefusal(binding, await post(small, { body: sized(10_010, wrap), chunked }), {
          reason: 'PAYLOAD_TOO_LARGE',
          id: null,
        });
        expect((await post(small, { body: sized(9_990, wrap), chunked })).status).toBe(200);
      }
      const deep = wrap({ deep: [[[[[[[[[[1]]]]]]]]]] });
      expectRefusal(binding, await post(small, { body: deep }), {
        reason: 'INVALID_REQUEST',
        id: null,
        fields: [''],
      });
    });

    it('answers what only claims to be too large, before it comes', async () => {
      const { port, hostname } = new URL(served.origin);
      const socket = connect(Number(port), hostname);
      const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n`;
      socket.write(`${head}Content-Length: 99999999999\r\n\r\n{`);
      const answer = await new Promise<string>((resolve) =>
        socket.once('data', (data) => resolve(`${data}`)),
      );
      socket.destroy();
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer.toLowerCase()).toContain('connection: close');
    });

    it('stops reading a body that never ends, and closes the connection', async () => {
      const { port, hostname } = new URL(small.origin);
      const socket = connect(Number(port), hostname);
      const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n`;
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      let answer = '';
      let over = false;
      socket.on('data', (data) => {
        answer += data;
      });
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('error', () => {});
      const pour = () => {
        while (!over && socket.write(chunk));
      };
      socket.on('drain', pour);
      pour();
      await closed;
      over = true;
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    });
  });
});
