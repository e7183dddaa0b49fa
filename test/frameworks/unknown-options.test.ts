import { createServer } from 'node:http';
import { httpJsonClient } from '@batonjs/bindings/http-json';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { attachWebSocket } from '@batonjs/bindings-websocket';
import { type ConnectOptions, connect } from '@batonjs/client';
import { mcpHandler, toMcp } from '@batonjs/mcp';
import { reply } from '@batonjs/server';
import { listen, nodeHandler } from '@batonjs/server-node';
import { createTaskGateway } from '@batonjs/task-gateway';
import { clientTelemetry } from '@batonjs/telemetry';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { serve } from '../kit/serve.ts';

const agent = () => serve(() => reply('Hello'));
const client = () => connect('http://localhost', { fetch: agent().fetch });
const types = {};

/** Serves an agent in one way, with options that the compiler would not accept. */
type Serves = (options: never) => unknown;

describe('an option that does not exist is refused by', () => {
  it.each<[name: string, serves: Serves, options: object, line: string]>([
    ['listen', (options) => listen(agent(), options), { ports: 4_000 }, '`ports`: did you mean `port`?'],
    ['listen', (options) => listen(agent(), options), { tls: {} }, '`tls`: remove it'],
    [
      'nodeHandler',
      (options) => nodeHandler(agent(), options),
      { trustHosts: true },
      '`trustHosts`: did you mean `trustHost`?',
    ],
    [
      'listenGrpc',
      (options) => listenGrpc(agent(), options),
      { port: 0, version: [] },
      '`version`: did you mean `versions`?',
    ],
    [
      'listenGrpc',
      (options) => listenGrpc(agent(), options),
      { port: 0, tls: { certs: '', key: '' } },
      '`tls.certs`: did you mean `tls.cert`?',
    ],
    [
      'attachWebSocket',
      (options) => attachWebSocket(agent(), createServer(), options),
      { origin: [] },
      '`origin`: did you mean `origins`?',
    ],
    [
      'toMcp',
      async (options) => toMcp(await client(), options),
      { wait: 1 },
      '`wait`: did you mean `waitMs`?',
    ],
    [
      'mcpHandler',
      async (options) => mcpHandler(await client(), options),
      { session: 1 },
      '`session`: did you mean `sessions`?',
    ],
    [
      'connect',
      (options) => connect('http://localhost', options),
      { header: {} },
      '`header`: did you mean `headers`?',
    ],
    [
      'connect',
      (options) => connect({ name: 'Card' } as never, options),
      { baseUrl: 'http://localhost' },
      '`baseUrl`: remove it',
    ],
    [
      'connect',
      (options) => connect('http://localhost', options),
      { retry: { attempt: 1 } },
      '`retry.attempt`: did you mean `retry.attempts`?',
    ],
  ])('%s: %#', async (_, serves, options, line) => {
    const served = (async () => serves(options as never))();
    await expect(served).rejects.toThrow(new TypeError(`There is no option ${line}`));
  });

  it('none that is one: every option of `connect` is known', async () => {
    const options: Required<ConnectOptions> = {
      ...{ fetch: agent().fetch, bindings: [httpJsonClient], compatibility: [], binding: 'HTTP+JSON' },
      ...{ version: '1.0', fallback: true, extensions: [], headers: {}, trustedOrigins: [] },
      ...{ credentials: () => undefined, timeoutMs: 9_000, maxResponseBytes: 99_999, maxEventBytes: 99_999 },
      ...{ followForMs: 1, retry: { attempts: 1, sendForMs: 1, firstMs: 1, longestMs: 1, budget: 1 } },
      ...{ checkCapabilities: true, verifyCard: () => true, cards: new Map(), clock: {} },
      telemetry: clientTelemetry(),
    };
    for (const retry of [options.retry, false, undefined])
      expect((await connect('http://localhost', { ...options, retry: retry as never })).card.name).toBe(
        'Test',
      );
  });

  it.each([
    [{ type: {} }, '`type`: did you mean `types`?'],
    [{ webSockets: { socket: 1 } }, '`webSockets.socket`: did you mean `webSockets.sockets`?'],
    [{ addresses: { allows: [] } }, '`addresses.allows`: did you mean `addresses.allow`?'],
    [{ telemetry: { servers: {} } }, '`telemetry.servers`: did you mean `telemetry.server`?'],
  ])('no task gateway, whose log names it, as that of a server does: %j', (options, line) => {
    const lines: unknown[] = [];
    closedAfterTest(
      createTaskGateway({
        types,
        logger: (...said: unknown[]) => void lines.push(said),
        ...options,
      } as never),
    );
    expect(lines).toEqual([['warn', `There is no option ${line}`, {}]]);
  });
});
