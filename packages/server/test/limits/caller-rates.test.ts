import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type AgentServerOptions, reply } from '../../src/index.ts';

type Limits = NonNullable<NonNullable<AgentServerOptions['limits']>['callers']>;
const hour = 3_600_000;

/** An agent with limits, on a clock that only the test moves. */
function limited(callers: Limits) {
  let now = 0;
  const store = memoryStore({ monotonic: () => now });
  const authenticate = () => ({ scope: 'ada' });
  const server = serve(() => reply('Hello'), { store, authenticate, limits: { callers } });
  const outcome = (method: string, params: object) =>
    rpc(server, method, params).then(
      () => 'answered',
      (error: Error) => error.message,
    );
  return {
    list: () => outcome('ListTasks', {}),
    send: () => outcome('SendMessage', { message: say('Hello') }),
    advance(ms: number) {
      now += ms;
    },
  };
}

describe('the rates of a caller', () => {
  it('for requests and for messages count apart, though each message counts for both', async () => {
    const { list, send } = limited({
      requests: { limit: 4, perMs: 2 * hour },
      messages: { limit: 2, perMs: hour },
    });
    expect(await send()).toBe('answered');
    expect(await send()).toBe('answered');
    expect(await send()).toBe('Too many messages: try again in 1800 s');
    expect(await list()).toBe('answered');
    expect(await list()).toBe('Too many requests: try again in 1800 s');
  });

  it.each<[string, Limits['requests'] & object, number, number]>([
    ['a rate below 1', { limit: 0.5, perMs: 1_000 }, 1, 2_000],
    ['a burst above the rate', { limit: 2, perMs: 1_000, burst: 5 }, 5, 500],
    ['a burst below the rate', { limit: 10, perMs: 1_000, burst: 3 }, 3, 100],
    ['a rate that is no whole number', { limit: 2.5, perMs: 1_000 }, 3, 400],
  ])('may be %s', async (_, requests, burst, everyMs) => {
    const { list, advance } = limited({ requests });
    const answered = async () => {
      let count = 0;
      while ((await list()) === 'answered') count += 1;
      return count;
    };
    expect(await answered()).toBe(burst);
    advance(everyMs - 2);
    expect(await answered()).toBe(0);
    advance(2);
    expect(await answered()).toBe(1);
    advance(everyMs * 100);
    expect(await answered()).toBe(burst);
  });
});
