import { ClientError, connect } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import {
  bothBindings,
  breaks,
  chunk,
  collect,
  failureOf,
  freePort,
  peer,
  taskIn,
  virtualClock,
} from '../serve.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const IDEMPOTENCY = 'https://batonjs.dev/extensions/idempotency/v1';
const recognising = (url: string) =>
  bothBindings(url, { capabilities: { streaming: true, extensions: [{ uri: IDEMPOTENCY }] } });

describe('a stream whose agent is out of reach [R-SSE-04]', () => {
  /** Answers one stream with an event, and refuses every later connection. */
  const leaving = (reason: 'UNAVAILABLE' | 'INTERNAL_ERROR', retryAfter?: number) => {
    let connections = 0;
    return peer(({ event, error, response, destroy }) => {
      connections += 1;
      if (connections > 1) return error(new A2AError(reason, undefined, { retryAfter }));
      event({ task: taskIn('WORKING') }, 'log.1');
      event(chunk('one', false), 'log.2');
      return response.write(': bye\n\n', destroy);
    });
  };
  const untimed = { idleTimeoutMs: 0, timeoutMs: 0 };

  it('goes on for a minute, and then says how to go on later', async () => {
    const { clock, pauses } = virtualClock();
    const { url, calls } = await leaving('UNAVAILABLE');
    const agent = await connect(url, { clock, timeoutMs: 0, fallback: false });
    const error = await failureOf(collect(agent.stream('hello', untimed)));
    expect(error).toMatchObject({ code: 'NETWORK', cause: { reason: 'UNAVAILABLE' } });
    expect(error.message).toContain(`No contact with ${url} for 60 s`);
    expect(error.message).toContain("follow('t-1', { lastEventId: 'log.2' })");
    expect(sum(pauses)).toBe(60_000);
    expect(calls.length).toBe(pauses.length + 1);
  });

  it.each([
    ['of the stream', {}, { followForMs: 5_000 }, 5_000],
    ['of the client', { followForMs: 7_000 }, {}, 7_000],
    ['of the stream before that of the client', { followForMs: 7_000 }, { followForMs: 2_000 }, 2_000],
  ])('goes on for `followForMs` %s', async (_, own, followed, expected) => {
    const { clock, pauses } = virtualClock();
    const { url } = await leaving('UNAVAILABLE');
    const agent = await connect(url, { clock, timeoutMs: 0, ...own });
    await failureOf(collect(agent.stream('hello', { ...untimed, ...followed })));
    expect(sum(pauses)).toBe(expected);
  });

  it('is not bounded by `attempts`', async () => {
    const { clock, pauses } = virtualClock();
    const { url } = await leaving('UNAVAILABLE');
    const agent = await connect(url, { clock, timeoutMs: 0, retry: { attempts: 2, budget: 0 } });
    await failureOf(collect(agent.follow('t-1', untimed)));
    expect(sum(pauses)).toBe(60_000);
  });

  it('waits as long as the agent asks, if there is time for it', async () => {
    const { clock, pauses } = virtualClock();
    const { url } = await leaving('UNAVAILABLE', 40);
    const agent = await connect(url, { clock, timeoutMs: 0, fallback: false });
    const error = await failureOf(collect(agent.stream('hello', untimed)));
    expect(error).toMatchObject({ reason: 'UNAVAILABLE', retryAfter: 40 });
    expect(pauses).toEqual([100, 40_000]);
  });

  it('gives up at once on an error that does not pass, or without retries', async () => {
    const broken = await leaving('INTERNAL_ERROR');
    const agent = await connect(broken.url);
    expect((await failureOf(collect(agent.stream('hello')))).reason).toBe('INTERNAL_ERROR');
    const gone = await leaving('UNAVAILABLE');
    const once = await connect(gone.url, { retry: false, fallback: false });
    expect((await failureOf(collect(once.stream('hello')))).code).toBe('NETWORK');
    expect(gone.calls).toHaveLength(1);
  });

  it('gives up on an agent that answers and breaks off without anything new', async () => {
    const { clock, pauses } = virtualClock();
    const { url } = await peer(breaks([{ task: taskIn('WORKING') }]));
    const agent = await connect(url, { clock, timeoutMs: 0 });
    expect((await failureOf(collect(agent.follow('t-1', untimed)))).code).toBe('NETWORK');
    expect(sum(pauses)).toBe(60_000);
  });

  it('gives up on an agent to which connecting takes long and fails', async () => {
    const { clock, pauses } = virtualClock();
    let attempts = 0;
    const fetch = async () => {
      attempts += 1;
      await clock.sleep(10_500);
      throw new TypeError('fetch failed');
    };
    const agent = await connect(bothBindings('http://agent.example'), {
      clock,
      fetch,
      timeoutMs: 0,
      fallback: false,
    });
    expect((await failureOf(collect(agent.follow('t-1', untimed)))).code).toBe('NETWORK');
    expect(attempts).toBeLessThan(10);
    expect(sum(pauses)).toBeLessThan(120_000);
  });

  it('gives up when none of several interfaces can be reached', async () => {
    const { clock, pauses } = virtualClock();
    const agent = await connect(bothBindings(`http://127.0.0.1:${await freePort()}`), {
      clock,
      timeoutMs: 0,
    });
    expect((await failureOf(collect(agent.follow('t-1', untimed)))).code).toBe('NETWORK');
    expect(sum(pauses)).toBe(60_000);
  });

  it('is followed again although the message itself may not be repeated', async () => {
    let connections = 0;
    const { url } = await peer(({ event, end, response, destroy }) => {
      connections += 1;
      event({ task: taskIn(connections === 1 ? 'WORKING' : 'COMPLETED') }, `log.${connections}`);
      if (connections === 1) response.write(': bye\n\n', destroy);
      else end();
    });
    const agent = await connect(url, { retry: { firstMs: 1 } });
    expect(await collect(agent.stream('hello', { repeatable: false }))).toHaveLength(2);
  });
});

describe('a message that may be repeated [R-SEED-13]', () => {
  it('is sent again for a minute, as long as a restart takes, and then says how to send it later', async () => {
    const { clock, pauses } = virtualClock();
    const { url, calls } = await peer(({ error }) => error(new A2AError('UNAVAILABLE')), {
      card: recognising,
    });
    const agent = await connect(url, { clock, timeoutMs: 0, retry: { budget: 1 } });
    const error = await failureOf(agent.send('hello', { messageId: 'm-1' }));
    expect(error).toMatchObject({ code: 'NETWORK', cause: { reason: 'UNAVAILABLE' } });
    expect(error.message).toContain("send it again with messageId 'm-1'");
    expect(sum(pauses)).toBe(60_000);
    expect(calls.length).toBe(pauses.length + 1);
    pauses.length = 0;
    const streamed = await failureOf(collect(agent.stream('hello', { messageId: 'm-2' })));
    expect(streamed.message).toContain("send it again with messageId 'm-2'");
    expect(sum(pauses)).toBe(60_000);
  });

  it.each([
    [{ sendForMs: 3_000 }, 3_000],
    [{ attempts: 3 }, 300],
  ])('is sent again as far as %o allows', async (retry, expected) => {
    const { clock, pauses } = virtualClock();
    const { url } = await peer(({ error }) => error(new A2AError('UNAVAILABLE')), { card: recognising });
    const agent = await connect(url, { clock, timeoutMs: 0, retry });
    await failureOf(agent.send('hello'));
    expect(sum(pauses)).toBe(expected);
  });
});

describe('an address', () => {
  it.each([
    ['127.0.0.1:4000', 'did you mean http://127.0.0.1:4000'],
    ['localhost:4000/agents/expense', 'did you mean http://localhost:4000/agents/expense'],
    ['agent.example', 'did you mean http://agent.example'],
    ['ftp://agent.example', '"ftp://agent.example" is no'],
    ['', '"" is no'],
  ])('that is not an HTTP URL is refused with a suggestion: %j', async (address, message) => {
    const error = await failureOf(connect(address));
    expect(ClientError.is(error, 'INVALID_URL')).toBe(true);
    expect(error.message).toContain(message);
  });

  it('is named when no server can be reached there, without its query', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const error = await failureOf(connect(`${url}/card.json?key=secret`, { retry: false }));
    expect(error.message).toBe(
      `${url}/card.json cannot be reached (ECONNREFUSED): does the agent run at this address?`,
    );
    const agent = await connect(bothBindings(`${url}/agent`), { retry: false, fallback: false });
    const operations = [
      agent.send('hello'),
      agent.getTask({ id: 't-1' }),
      collect(agent.subscribeToTask({ id: 't-1' })),
    ];
    for (const operation of operations)
      expect((await failureOf(operation)).message).toContain(`${url}/agent`);
  });

  it('is named when the answer takes too long', async () => {
    const { url } = await peer(() => {});
    const agent = await connect(bothBindings(url), { timeoutMs: 20 });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).message).toBe(
      `No answer from ${url}/ within 20 ms`,
    );
  });
});
