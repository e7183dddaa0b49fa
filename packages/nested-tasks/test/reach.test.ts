import { A2AError, ClientError } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { reach, Unreachable, wasNotSent } from '../src/agents/reach.ts';
import { CallError } from '../src/call-error.ts';

const because = (code: string) => Object.assign(new Error(code), { code });
const network = (cause?: unknown) => new ClientError('NETWORK', 'Away', cause);
const never = new AbortController().signal;

/** What a call ends with that fails with these errors one after the other, and how often it was made. */
async function reached(
  errors: readonly unknown[],
  { forMs = 60_000, repeatable = true, signal = never } = {},
) {
  const left = [...errors];
  let calls = 0;
  const call = async () => {
    calls += 1;
    if (left.length > 0) throw left.shift();
    return 'here';
  };
  const end = await reach(call, { forMs, signal, repeatable }).catch((error: unknown) => error);
  return { end, calls };
}

describe('an agent', () => {
  const busy = new A2AError('RESOURCE_EXHAUSTED', 'Busy');
  const away = new A2AError('UNAVAILABLE', 'Away');

  it.each<[unknown, boolean]>([
    [network(), true],
    [new ClientError('TIMEOUT', 'Late'), true],
    [away, true],
    [busy, true],
    [new ClientError('RESPONSE_TOO_LARGE', 'Large'), false],
    [new A2AError('TASK_NOT_FOUND', 'Gone'), false],
    [new A2AError('INTERNAL_ERROR', 'Broken'), false],
    [new Error('Broken'), false],
    [undefined, false],
  ])('that fails with %s is tried again: %s', async (error, isAgain) => {
    expect(await reached([error])).toEqual(isAgain ? { end: 'here', calls: 2 } : { end: error, calls: 1 });
  });

  it.each<[unknown, boolean]>([
    [network(because('ECONNREFUSED')), true],
    [network(new Error('fetch failed', { cause: because('ENOTFOUND') })), true],
    [network(because('EAI_AGAIN')), true],
    [network(because('ECONNRESET')), false],
    [network(), false],
    [network('text'), false],
    [new ClientError('TIMEOUT', 'Late'), false],
    [away, true],
    [busy, true],
  ])('that fails with %s is tried again with what must not come twice: %s', async (error, isAgain) => {
    expect(wasNotSent(error)).toBe(isAgain);
    const { end, calls } = await reached([error], { repeatable: false });
    expect(calls).toBe(isAgain ? 2 : 1);
    if (isAgain) expect(end).toBe('here');
    else
      expect(end).toMatchObject({
        name: 'Unreachable',
        message: 'The agent cannot be reached',
        cause: error,
      });
  });

  it.each([0, 20])('that stays away is out of reach after %i ms', async (forMs) => {
    const errors = Array.from({ length: 10_000 }, () => network());
    const { end, calls } = await reached(errors, { forMs });
    expect(end).toBeInstanceOf(Unreachable);
    expect((end as Error).cause).toBe(errors[0] && errors[calls - 1]);
    expect(calls > 1).toBe(forMs > 0);
  });
});

describe('a caller that leaves', () => {
  const reason = new Error('Enough');

  it('gets its reason where the call fails meanwhile', async () => {
    for (const error of [network(), new Error('Broken')]) {
      const { end, calls } = await reached([error], { signal: AbortSignal.abort(reason) });
      expect([end, calls]).toEqual([reason, 1]);
    }
  });

  it('gets it between two attempts at once, and leaves neither a timer nor a listener', async () => {
    const listeners = new Set<unknown>();
    const abort = new AbortController();
    const { signal } = abort;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    const failed = Promise.withResolvers<void>();
    Object.assign(signal, {
      addEventListener(type: 'abort', call: () => void) {
        listeners.add(call);
        add(type, call);
        failed.resolve();
      },
      removeEventListener(type: 'abort', call: () => void) {
        if (type === 'abort') listeners.delete(call);
        remove(type, call);
      },
    });
    let calls = 0;
    const call = async () => {
      calls += 1;
      // The longest pause of all: the first ones may be over before anything else.
      throw network();
    };
    const reaching = reach(call, { forMs: 3_600_000, signal, repeatable: true });
    await failed.promise;
    abort.abort(reason);
    await expect(reaching).rejects.toBe(reason);
    expect([listeners.size, calls]).toEqual([0, 1]);
  });

  it('leaves no listener behind where the agent answers after all', async () => {
    const added: string[] = [];
    const removed: string[] = [];
    const signal = {
      aborted: false,
      throwIfAborted() {},
      addEventListener: (type: string) => added.push(type),
      removeEventListener: (type: string) => removed.push(type),
    } as unknown as AbortSignal;
    expect(await reached([network(), network()], { signal })).toEqual({ end: 'here', calls: 3 });
    expect([added, removed]).toEqual([
      ['abort', 'abort'],
      ['abort', 'abort'],
    ]);
  });
});

describe('a `CallError`', () => {
  it('is recognised by its name and code', () => {
    const error = new CallError('REFUSED', 'a', 'it was refused');
    expect(CallError.is(error)).toBe(true);
    expect(CallError.is(error, 'REFUSED')).toBe(true);
    expect(CallError.is(error, 'TIMEOUT')).toBe(false);
    expect(CallError.is({ name: 'CallError', code: 'TIMEOUT' }, 'TIMEOUT')).toBe(true);
    for (const other of [null, undefined, new Error('a'), { code: 'REFUSED' }, 'CallError'])
      expect(CallError.is(other)).toBe(false);
  });
});
