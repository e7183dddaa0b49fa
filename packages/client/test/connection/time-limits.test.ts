import { createServer } from 'node:http';
import { connect } from '@batonjs/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { bothBindings, collect, failureOf, statusOf, taskIn } from '../serve.ts';

/** The `fetch` of this process gives up after `ms` without a byte, in place of 300 s, until the test ends. */
function limitFetch(ms: number) {
  const key = Symbol.for('undici.globalDispatcher.1');
  const dispatchers = globalThis as unknown as Record<symbol, { close(): Promise<void> }>;
  const usual = dispatchers[key]!;
  const Agent = usual.constructor as new (options: object) => typeof usual;
  const limited = new Agent({ headersTimeout: ms, bodyTimeout: ms });
  dispatchers[key] = limited;
  onTestFinished(async () => {
    dispatchers[key] = usual;
    await limited.close();
  });
}

const rpc = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });

/** A server that begins to answer, or goes on with an answer, when a request of plain `fetch` has failed for its slowness. */
async function slowServer(first?: string) {
  const held = Promise.withResolvers<void>();
  const url = await listen(
    createServer(async (request, response) => {
      if (request.url === '/plain') {
        if (first !== undefined) response.write(first);
        return;
      }
      const isStream = first !== undefined;
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      if (isStream) response.write(`data: ${rpc({ task: taskIn('WORKING') })}\n\n`);
      await held.promise;
      response.end(isStream ? `data: ${rpc(statusOf('COMPLETED'))}\n\n` : rpc({ task: taskIn('COMPLETED') }));
    }),
  );
  /** Begins with `work`, and resolves to its outcome. */
  const outlasts = async (work: () => Promise<unknown>) => {
    const done = work();
    const reading = fetch(`${url}/plain`).then((response) => response.text());
    expect(await failureOf(reading)).toMatchObject({
      cause: { code: expect.stringMatching(/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/) },
    });
    held.resolve();
    return done;
  };
  return { url, outlasts };
}

const only = { binding: 'JSONRPC', retry: false } as const;

describe('the limits of `fetch`', () => {
  it.each([900_000, 0])('do not end a call before its own, which is %i ms', async (timeoutMs) => {
    limitFetch(500);
    const { url, outlasts } = await slowServer();
    const agent = await connect(bothBindings(url), only);
    expect(await outlasts(() => agent.send('Work', { timeoutMs }))).toMatchObject({ task: { id: 't-1' } });
  });

  it('do not end a call of a `fetch` that passes requests on', async () => {
    limitFetch(500);
    const { url, outlasts } = await slowServer();
    const agent = await connect(bothBindings(url), { ...only, fetch: (request) => fetch(request) });
    expect(await outlasts(() => agent.send('Work'))).toMatchObject({ task: { id: 't-1' } });
  });

  it('do not end a stream without heartbeats', async () => {
    limitFetch(500);
    const { url, outlasts } = await slowServer('');
    const agent = await connect(bothBindings(url), only);
    const events = await outlasts(() => collect(agent.subscribeToTask({ id: 't-1' })));
    expect(events).toMatchObject(
      [taskIn('WORKING'), statusOf('COMPLETED')].map((each) => ('id' in each ? { task: each } : each)),
    );
  });

  it('are named where they cannot be moved', async () => {
    limitFetch(500);
    const { url } = await slowServer();
    const fetchAlone = async ({ url, method, headers, body }: Request) =>
      fetch(url, { method, headers, body: await new Response(body).text() });
    const agent = await connect(bothBindings(url), { ...only, fetch: fetchAlone });
    expect(await failureOf(agent.send('Work', { timeoutMs: 0 }))).toMatchObject({
      code: 'TIMEOUT',
      message:
        `${url}/ did not answer within the limit of the \`fetch\` that was passed in, 300 s in Node.js (UND_ERR_HEADERS_TIMEOUT): ` +
        'raise its `headersTimeout`, or send with `returnImmediately` and follow the task, which goes on',
    });
  });

  it.runIf(repetitions(0, 1))('do not end a call after 300 s', { timeout: 400_000 }, async () => {
    const url = await listen(
      createServer((_, response) => {
        const timer = setTimeout(() => response.end(rpc({ task: taskIn('COMPLETED') })), 310_000);
        response.once('close', () => clearTimeout(timer));
        response.setHeader('content-type', 'application/json');
      }),
    );
    const agent = await connect(bothBindings(url), only);
    expect(await agent.send('Work', { timeoutMs: 900_000 })).toMatchObject({ task: { id: 't-1' } });
  });
});
