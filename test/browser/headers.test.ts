import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumForTests, openChromium } from '../support/chromium.ts';
import { servePage } from './agent.ts';
import { clientBundle } from './bundle.ts';

const executablePath = await chromiumForTests();
const serving: Server[] = [];

/** An origin that any page may ask, and what it was sent; redirects to a given address. */
async function serveOrigin(
  card?: (own: string) => object,
  redirect?: (request: IncomingMessage) => string | undefined,
) {
  const received: { path: string | undefined; key: unknown }[] = [];
  const server = createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') return response.end();
    received.push({ path: request.url, key: request.headers['x-api-key'] });
    const location = redirect?.(request);
    if (location) return response.writeHead(307, { location }).end();
    const task = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } };
    const body = request.url?.endsWith('.json') && card ? card(url) : { jsonrpc: '2.0', id: 1, result: task };
    return response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  serving.push(server);
  return { url, received };
}

const cardAt = (url: string) => ({
  name: 'Peer',
  description: '',
  version: '1',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
});

describe.skipIf(!executablePath)('static headers in Chromium [R-AUTH-03]', { timeout: 300_000 }, () => {
  const closing: (() => unknown)[] = [];
  let page: Page;

  beforeAll(async () => {
    const served = await servePage(await clientBundle());
    closing.push(() => served.close());
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    page = await browser.context.newPage();
    await page.goto(served.url);
    await page.waitForFunction(() => 'baton' in globalThis);
  }, 300_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });
  afterEach(() => {
    for (const server of serving.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Reads a task of the agent at this address. */
  const read = (url: string) =>
    page.evaluate(async (address) => {
      const client = await baton.connect(address, { headers: { 'X-API-Key': 'secret' }, retry: false });
      return (await client.getTask({ id: 't-1' })).id;
    }, url);

  it('go to the agent, and not to another origin that its card names', async () => {
    const stranger = await serveOrigin();
    const home = await serveOrigin(() => cardAt(`${stranger.url}/rpc`));
    expect(await read(home.url)).toBe('t-1');
    expect(home.received.map(({ key }) => key)).toEqual(['secret']);
    expect(stranger.received).toEqual([{ path: '/rpc', key: undefined }]);
  });

  it('are dropped by a redirect, which the browser does not show', async () => {
    const stranger = await serveOrigin();
    const home = await serveOrigin(
      (own) => cardAt(`${own}/rpc`),
      ({ url }) => (url === '/rpc' ? `${stranger.url}/there` : undefined),
    );
    expect(await read(home.url)).toBe('t-1');
    expect(home.received.map(({ path, key }) => [path, key])).toEqual([
      ['/.well-known/agent-card.json', 'secret'],
      ['/rpc', 'secret'],
      ['/rpc', undefined],
    ]);
    expect(stranger.received).toEqual([{ path: '/there', key: undefined }]);
  });
});
