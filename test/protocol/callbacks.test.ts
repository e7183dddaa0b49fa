import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { askingAgent } from '../../packages/server/test/callbacks/asking-agent.ts';
import {
  begin,
  hour,
  serveCallbacks,
  waitingAgent,
} from '../../packages/server/test/callbacks/serve-callbacks.ts';
import { abandon, exchange } from '../kit/http/exchange.ts';
import { type Mount, roads } from '../kit/http/mounts.ts';
import { listen } from '../kit/listen.ts';
import { rpc, say } from '../kit/rpc.ts';
import { until } from '../kit/until.ts';

const json = { 'content-type': 'application/json' };

/** A callback that waits for its value, and how to send requests to it. */
async function waiting(mount: Mount) {
  const { agent, seen, url } = waitingAgent({ expiresMs: hour });
  const publicUrl = 'https://agent.example/agent';
  const { server } = serveCallbacks(agent, { store: memoryStore(), clock: {}, publicUrl });
  const origin = await listen(await mount(server));
  const { task } = await rpc(server, 'SendMessage', {
    message: say('go'),
    configuration: { returnImmediately: true },
  });
  const { pathname: path } = new URL(await url);
  const ask = (more: Parameters<typeof exchange>[1]) =>
    exchange(origin, { method: 'POST', path, headers: json, ...more });
  return { origin, path, ask, seen, id: task.id as string, server };
}

describe.each(roads)('a callback on %s', (_, mount) => {
  it('takes one value, and starts the next turn', async () => {
    const { ask, seen, id, server } = await waiting(mount);
    const shown = await ask({ method: 'GET', headers: {} });
    expect([shown.status, shown.headers.allow]).toEqual([405, 'POST']);
    expect(await ask({ body: '{"paid":true}' })).toMatchObject({ status: 202, text: '' });
    expect(await ask({ body: '{ "paid": true }', chunked: true })).toMatchObject({ status: 202 });
    expect(await ask({ body: '{"paid":false}' })).toMatchObject({ status: 409 });
    await until(server, id, 'COMPLETED');
    expect(seen.at(-1)).toEqual({ woken: true, values: { callback: { paid: true } } });
  });

  it('refuses what is no value, and is not used up by it', async () => {
    const { ask, path, origin } = await waiting(mount);
    const refused = [
      await ask({ path: `${path}x`, body: '1' }),
      await ask({ body: '{' }),
      await ask({ body: '' }),
      await ask({ body: 'paid', headers: { 'content-type': 'text/plain' } }),
      await ask({ body: 'paid=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      await ask({ body: JSON.stringify('x'.repeat(70_000)) }),
      await ask({ body: JSON.stringify('x'.repeat(70_000)), chunked: true }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 400, 400, 415, 415, 413, 413]);
    for (const { json, text } of refused) {
      expect(json).toEqual({ error: { code: expect.any(Number), message: expect.any(String) } });
      expect(text).not.toContain(path.slice(-40));
    }
    await abandon(origin, path, JSON.stringify({ paid: 'x'.repeat(100) }));
    expect(await ask({ body: '1' })).toMatchObject({ status: 202 });
  });
});

describe.each(roads)('a link to a question on %s', (_, mount) => {
  it('shows the form to a browser, and takes one answer', async () => {
    const { agent, seen, links } = askingAgent({ form: true });
    const publicUrl = 'https://agent.example/agent';
    const { server } = serveCallbacks(agent, { store: memoryStore(), clock: {}, publicUrl });
    const origin = await listen(await mount(server));
    const id = await begin(server);
    const [url = ''] = await links;
    await until(server, id, 'INPUT_REQUIRED');
    const { pathname: path } = new URL(url);
    const accept = 'text/html';
    const shown = await exchange(origin, { method: 'GET', path, headers: { accept } });
    expect(shown).toMatchObject({ status: 200, text: expect.stringContaining('<h1>Payment</h1>') });
    const question = /name="question" value="([^"]*)"/.exec(shown.text)?.[1] ?? '';
    const send = (fields: Record<string, string>) => {
      const body = new URLSearchParams({ question, ...fields }).toString();
      const headers = { accept, 'content-type': 'application/x-www-form-urlencoded', origin: 'null' };
      return exchange(origin, { method: 'POST', path, headers, body });
    };
    expect(await send({ 'field-1': '7' })).toMatchObject({ status: 422 });
    await abandon(origin, path, `question=${question}&field-0=0&field-1=7`);
    const thanks = { status: 200, text: expect.stringContaining('Thank you') };
    expect(await send({ 'field-0': '0', 'field-1': '7' })).toMatchObject(thanks);
    await until(server, id, 'COMPLETED');
    expect(seen.at(-1)?.values).toMatchObject({ values: { approved: true, cents: 7 } });
  });
});
