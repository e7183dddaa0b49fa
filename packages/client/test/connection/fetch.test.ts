import { connect } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { bothBindings, collect, failureOf, taskIn } from '../serve.ts';

const card = bothBindings('http://agent.example');
const stream = (body: BodyInit) => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
const event = (text: string) =>
  `data: ${JSON.stringify({ task: taskIn('WORKING', { metadata: { text } }) })}\n\n`;

describe('a fetch that is passed in', () => {
  it('is given whole requests', async () => {
    const requests: Request[] = [];
    const fetch = async (request: Request) => {
      requests.push(request);
      return Response.json({ jsonrpc: '2.0', id: 1, result: taskIn('WORKING') });
    };
    await (await connect(card, { fetch })).getTask({ id: 't-1' });
    const [request] = requests;
    expect([request?.method, request?.url, request?.headers.get('a2a-version')]).toEqual([
      'POST',
      'http://agent.example/',
      '1.0',
    ]);
    expect(await request?.json()).toMatchObject({ method: 'GetTask', params: { id: 't-1' } });
  });

  it('may not care for deadlines, which hold all the same', async () => {
    const fetch = () => new Promise<Response>(() => {});
    const agent = await connect(card, { fetch, timeoutMs: 20 });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).code).toBe('TIMEOUT');
  });

  it('may end an aborted stream as if it were complete, which does not pass for its end', async () => {
    const leaving = new AbortController();
    const fetch = async ({ signal }: Request) =>
      stream(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(event('hello')));
            signal.addEventListener('abort', () => controller.close());
          },
        }),
      );
    const agent = await connect(card, { fetch, binding: 'HTTP+JSON' });
    const reading = async () => {
      for await (const _ of agent.subscribeToTask({ id: 't-1' }, { signal: leaving.signal })) leaving.abort();
    };
    expect((await failureOf(reading())).code).toBe('ABORTED');
  });

  it('may care for no signal once it has answered: a stream that never ends is left all the same', async () => {
    let isLeft = false;
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(event('hello'))),
      cancel() {
        isLeft = true;
      },
    });
    const leaving = new AbortController();
    const agent = await connect(card, { fetch: async () => stream(endless), binding: 'HTTP+JSON' });
    const reading = async () => {
      for await (const _ of agent.subscribeToTask({ id: 't-1' }, { signal: leaving.signal }))
        setTimeout(() => leaving.abort());
    };
    expect((await failureOf(reading())).code).toBe('ABORTED');
    expect(isLeft).toBe(true);
  });

  it('may bring an event at once that is too large', async () => {
    const fetch = async () => stream(event('x'.repeat(2_000)));
    const agent = await connect(card, { fetch, binding: 'HTTP+JSON', maxEventBytes: 1_000 });
    expect((await failureOf(collect(agent.subscribeToTask({ id: 't-1' })))).code).toBe('RESPONSE_TOO_LARGE');
  });

  it('may answer without a body', async () => {
    const agent = await connect(card, { fetch: async () => stream(null as never), binding: 'HTTP+JSON' });
    expect(await collect(agent.subscribeToTask({ id: 't-1' }))).toEqual([]);
    const empty = await connect(card, { fetch: async () => new Response(null), binding: 'HTTP+JSON' });
    expect(await empty.deleteTaskPushNotificationConfig({ taskId: 't-1', id: 'p-1' })).toEqual({});
  });
});
