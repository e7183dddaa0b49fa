import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { eventually } from '../../../../../test/kit/until.ts';
import { differencesOf, digestsOf, peersFor, peersOf } from '../../../src/base/store/peers.ts';
import { systemClock } from '../../../src/base/timing/clock.ts';
import { checkPushConfig } from '../../../src/webhooks/configs/check-push-config.ts';
import { createWebhooks } from '../../../src/webhooks/webhooks.ts';

/** Processes on a store, on a clock that the test moves. They do nothing by themselves but what a start does. */
function processes() {
  let now = 1_000_000;
  const store = memoryStore({ now: () => now });
  const asleep = new Set<() => void>();
  const clock = {
    ...systemClock,
    now: () => now,
    monotonic: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        slept.push(ms);
        asleep.add(resolve);
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const lines: string[] = [];
  const slept: number[] = [];
  const begin = async (name: string, options: Record<string, unknown>, on = store) => {
    const peers = peersFor(
      'q',
      { name, options: digestsOf(options) },
      {
        store: on,
        clock,
        logger: (_level, line) => void lines.push(line),
        report: (line) => void lines.push(line),
      },
    );
    peers.start();
    await peers.others(0);
    return peers;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { store, begin, pass, lines, slept, wake: () => asleep.forEach((wake) => void wake()) };
}

const sentence = (options: string, one: string, other: string) =>
  `Servers and workers of an agent need the same options, and these differ: ${options} (one: ${one}; another one: ${other})`;

it('what differs is logged once by each process, and named until the other one closes', async () => {
  const { store, begin, lines } = processes();
  const one = await begin('server 1', {
    clocks: { totalMs: 1, inactivityMs: 2 },
    retention: undefined,
    limits: 1,
  });
  expect(await one.differences(0)).toBeUndefined();
  const other = await begin('worker 2', { clocks: { inactivityMs: 2, totalMs: 1 }, retention: 1, limits: 2 });
  const text = sentence('`retention`, `limits`', 'server 1', 'worker 2');
  for (const process of [one, other, one]) expect(await process.differences(0)).toBe(text);
  expect(await differencesOf(store, 'q')).toBe(text);
  expect(lines).toEqual([text, text]);
  await other.close();
  expect(await one.differences(0)).toBeUndefined();
  expect(await one.others(0)).toMatchObject([{ name: 'worker 2', isClosed: true }]);
});

it('a process that died is forgotten two minutes after it last wrote, and one that goes on is not', async () => {
  const { begin, pass, wake } = processes();
  const one = await begin('server 1', { clocks: 1 });
  await begin('worker 2', { clocks: 2 });
  pass(119_999);
  expect(await one.others(0)).toHaveLength(1);
  pass(1);
  expect(await one.others(0)).toEqual([]);
  wake();
  await eventually(async () => expect(await one.others(0)).toMatchObject([{ name: 'worker 2' }]));
});

it('many processes with the same value are counted', async () => {
  const { begin } = processes();
  const first = await begin('server 0', { clocks: 1 });
  for (let n = 1; n < 6; n++) await begin(`worker ${n}`, { clocks: 2 });
  expect(await first.differences(0)).toBe(
    sentence('`clocks`', 'server 0', 'worker 1, worker 2, worker 3 and 2 more'),
  );
});

it('a store that fails is reported, asked again after a second, and keeps no process from closing', async () => {
  const { store, begin, lines, slept, wake } = processes();
  let isAway = true;
  let puts = 0;
  const failing = {
    ...store,
    putRecord(...args: Parameters<typeof store.putRecord>) {
      puts++;
      return isAway ? Promise.reject(new Error('away')) : store.putRecord(...args);
    },
  };
  const one = await begin('server 1', { clocks: 1 }, failing);
  await eventually(() => expect(lines).toEqual(['Could not compare the options of processes']));
  await eventually(() => expect(slept).toContain(1_000));
  const closed = await begin('server 3', { clocks: 1 }, failing);
  await closed.close();
  expect(puts).toBe(2);
  const other = await begin('server 2', { clocks: 1 });
  expect(await other.others(0)).toEqual([]);
  isAway = false;
  wake();
  await eventually(async () => expect(await other.others(0)).toHaveLength(1));
  await one.close();
});

it('a process that signs registers webhooks once all others know of it, and any other one at once', async () => {
  const { store, begin, wake } = processes();
  const peers = await begin('server 1', {});
  let isHeard = false;
  const config = { taskId: 't', url: 'https://93.184.216.34/' };
  const webhooks = { ...createWebhooks(store, { sign: () => ({}) })!, peers };
  const checked = checkPushConfig(config, webhooks).then(() => {
    isHeard = true;
  });
  await checkPushConfig(config, { ...webhooks, sign: undefined });
  expect([isHeard, await peersOf(store, 'q')]).toMatchObject([false, [{ name: 'server 1' }]]);
  wake();
  await checked;
});
