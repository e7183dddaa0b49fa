import { describe, expect, it } from 'vitest';
import { brief, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, type AgentServer, completed, taskAgent, working } from '../../src/index.ts';

const many = 300;

/** The events of a stream that a message begins, briefly, as they are asked for. */
async function open(server: AgentServer): Promise<AsyncIterator<string>> {
  const { status, body } = await server.handle({
    method: 'POST',
    path: '/message:stream',
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    readBody: async () => ({ value: { message: say('go') } }),
    signal: new AbortController().signal,
  });
  if (typeof body !== 'object') throw new Error(`${status}: ${body}`);
  return briefly(body);
}

async function* briefly(body: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of body)
    for (const [, data] of text.matchAll(/^data: (.+)$/gm)) yield brief(JSON.parse(data!));
}

const openAll = (server: AgentServer) => Promise.all(Array.from({ length: many }, () => open(server)));

const nextOf = (streams: readonly AsyncIterator<string>[]) =>
  Promise.all(streams.map(async (stream) => (await stream.next()).value));

const all = (word: string) => Array.from({ length: many }, () => word);

/** Agents that report, then wait for the gate. */
function gated() {
  const gate = Promise.withResolvers<void>();
  const agent: Agent = async function* () {
    yield working();
    await gate.promise;
    yield completed();
  };
  return { agent, open: gate.resolve };
}

describe(`${many} streams that are opened at once`, () => {
  it('each begin with SUBMITTED and get the first update of their agent before any ends', async () => {
    const { agent, ...gate } = gated();
    const streams = await openAll(serve(agent));
    expect(await nextOf(streams)).toEqual(all('task SUBMITTED'));
    expect(await nextOf(streams)).toEqual(all('WORKING'));
    gate.open();
    expect(await nextOf(streams)).toEqual(all('COMPLETED'));
  });

  it('each begin with SUBMITTED while the only turn that `limits.turns` allows has not ended', async () => {
    const { agent, ...gate } = gated();
    const streams = await openAll(serve(agent, { limits: { turns: 1 } }));
    expect(await nextOf(streams)).toEqual(all('task SUBMITTED'));
    gate.open();
    expect(await nextOf(streams)).toEqual(all('WORKING'));
    expect(await nextOf(streams)).toEqual(all('COMPLETED'));
  });

  it('all begin before most agents do, if these wait for nothing', async () => {
    let called = 0;
    const agent: Agent = async function* () {
      called++;
      yield working();
      yield completed();
    };
    const server = serve(agent);
    const opening = Array.from({ length: many }, async () => ({ stream: await open(server), called }));
    const opened = await Promise.all(opening);
    expect(Math.max(...opened.map((one) => one.called))).toBeLessThan(many / 2);
    const streams = opened.map(({ stream }) => stream);
    expect(await nextOf(streams)).toEqual(all('task SUBMITTED'));
    expect(await nextOf(streams)).toEqual(all('WORKING'));
    expect(await nextOf(streams)).toEqual(all('COMPLETED'));
  });

  it('end when the server closes, and the agents of those that have not begun are not called', async () => {
    let called = 0;
    let calledLate = 0;
    const agent = taskAgent(({ signal }) => {
      called++;
      if (signal.aborted) calledLate++;
      // The server closes after the next few have begun.
      for (const since = performance.now(); performance.now() - since < 0.1; );
      return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
    });
    const server = serve(agent);
    const streams = await openAll(server);
    expect(called).toBeLessThan(many);
    const words = Promise.all(streams.map(lastOf));
    await server.close({ graceMs: 0 });
    expect(calledLate).toBe(0);
    expect(await words).toEqual(all('FAILED'));
  });
});

async function lastOf(stream: AsyncIterator<string>): Promise<string | undefined> {
  let last: string | undefined;
  for (let next = await stream.next(); !next.done; next = await stream.next()) last = next.value;
  return last;
}
