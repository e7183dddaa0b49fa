import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from '@batonjs/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certificateOf } from '../../../../test/support/certificate.ts';
import { bothBindings, failureOf } from '../serve.ts';

/** A server with a self-signed certificate. */
async function serve() {
  const { key, cert } = certificateOf('localhost');
  let requests = 0;
  const server = createServer({ key, cert }, (_request, response) => {
    requests++;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests: () => requests };
}

describe('an agent with a self-signed certificate', () => {
  it.each(['JSONRPC', 'HTTP+JSON'])('receives no request on %s [R-AUTH-03]', async (binding) => {
    const { url, requests } = await serve();
    const options = {
      binding,
      retry: false,
      credentials: () => ({ authorization: 'Bearer secret' }),
    } as const;
    expect(await failureOf(connect(url, options))).toMatchObject({ code: 'NETWORK' });
    const client = await connect(bothBindings(url), options);
    expect(await failureOf(client.listTasks({}))).toMatchObject({ code: 'NETWORK' });
    expect(requests()).toBe(0);
  });
});
