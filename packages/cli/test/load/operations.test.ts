import { connect } from '@batonjs/client';
import { completed, type Turn, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { operationsOf } from '../../src/load/operations.ts';
import { cli } from '../cli.ts';

/** The calls of a load on an agent, and what they ask of it. */
async function calling() {
  const asked: { method: string; params: { id?: string; configuration?: object } }[] = [];
  const texts: string[] = [];
  const server = serve(async function* ({ text, signal }: Turn) {
    texts.push(text);
    yield working();
    if (text === 'slow') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield completed();
  });
  let held: (() => void) | undefined;
  const agent = await connect('http://localhost', {
    async fetch(request) {
      if (held) {
        held();
        await new Promise((_, reject) =>
          request.signal.addEventListener('abort', () => reject(request.signal.reason)),
        );
      }
      if (request.method === 'POST') {
        const { method, params } = await request.clone().json();
        asked.push({ method, params });
      }
      return server.fetch(request);
    },
  });
  const { signal } = new AbortController();
  /** From now on no request is answered. Resolves with the first one. */
  const hold = () =>
    new Promise<void>((resolve) => {
      held = resolve;
    });
  return { agent, asked, texts, signal, hold, methods: () => asked.map(({ method }) => method) };
}

describe('the calls of a load', () => {
  it.each(['send', 'stream', 'async'] as const)('read the task that %s began', async (kind) => {
    const { agent, asked, texts, signal, methods } = await calling();
    const operations = operationsOf(agent, 'hello');
    // Before a task is known, a list is read instead.
    await operations.get(signal, () => {});
    let firsts = 0;
    await operations[kind](signal, () => {
      firsts += 1;
    });
    await operations.get(signal, () => {});
    await operations.list(signal, () => {});
    const sent = kind === 'stream' ? 'SendStreamingMessage' : 'SendMessage';
    expect(methods()).toEqual(['ListTasks', sent, 'GetTask', 'ListTasks']);
    const [{ id } = { id: '' }] = (await agent.listTasks({})).tasks;
    expect([asked[2]?.params.id, texts, firsts]).toEqual([id, ['hello'], kind === 'stream' ? 1 : 0]);
    expect(asked[0]?.params).toMatchObject({ pageSize: 20 });
  });

  it('wait for the result of send, and not for that of async', async () => {
    const { agent, asked, signal } = await calling();
    await operationsOf(agent, 'hello').send(signal, () => {});
    await operationsOf(agent, 'slow').async(signal, () => {});
    expect(asked.map(({ params }) => Object(params.configuration).returnImmediately ?? false)).toEqual([
      false,
      true,
    ]);
  });

  it.each(['send', 'stream', 'async', 'list', 'get'] as const)(
    'are broken off with the run: %s',
    async (kind) => {
      const { agent, signal, hold } = await calling();
      const operations = operationsOf(agent, 'hello');
      await operations.send(signal, () => {});
      const stop = new AbortController();
      const asked = hold();
      const running = operations[kind](stop.signal, () => {});
      await asked;
      stop.abort();
      await expect(running).rejects.toThrow(/abort/i);
    },
  );
});

describe('baton load', () => {
  async function agent() {
    const texts: string[] = [];
    const server = serve(async function* ({ text }: Turn) {
      texts.push(text);
      yield completed();
    });
    const { url, close } = await listen(server);
    return { url, close, texts };
  }

  it('sends the text that it was given, or `load`, and says how long it calls', async () => {
    const { url, close, texts } = await agent();
    const given = await cli(`load -a ${url} --callers 1 --rate 10/s --duration 100ms --text hello -o json`);
    const plain = await cli(`load -a ${url} --callers 1 --duration 30ms -o json`);
    await close();
    expect(texts[0]).toBe('hello');
    expect(new Set(texts.slice(1))).toEqual(new Set(['load']));
    expect(given.stderr).toContain('Calling for 100ms: Ctrl-C ends it and prints what was measured');
    expect(given.json).toEqual({ callers: 1, rate: 10, ms: expect.any(Number), rows: expect.any(Array) });
    // Without a mix, only messages are sent; without a rate, none is shown.
    expect(Object.keys(plain.json)).toEqual(['callers', 'ms', 'rows']);
    expect(plain.json.rows.map(({ operation }: { operation: string }) => operation)).toEqual(['send']);
  });
});
