import type { Fact } from '@batonjs/lifecycle';
import type { Commit, Delivery, PushConfig, PushConfigStore, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import type { Clock } from '../../../src/base/timing/clock.ts';
import { FailingWebhooks } from '../../../src/webhooks/hosts/failing-webhooks.ts';
import {
  createWebhooks,
  type DeliveryDependencies,
  type PushOptions,
} from '../../../src/webhooks/webhooks.ts';
import { push } from './push-config.ts';

/** When the clock of these tests begins, with a fraction of a second. */
export const begin = Date.UTC(2026, 5, 1) + 250;
export const at = new Date(begin).toISOString();
const written = { format: 1, at } as const;

/** The message that begins a log. */
export const received: Fact = {
  ...written,
  type: 'message-received',
  traceparent: '00-1-2-01',
  message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'go' }] },
};
/** A fact that no webhook wants. */
export const woken: Fact = { ...written, type: 'woken' };
export const status = (state: 'WORKING' | 'INPUT_REQUIRED' = 'WORKING'): Fact => ({
  ...written,
  type: 'status-changed',
  status: { state: `TASK_STATE_${state}`, timestamp: at },
});

/** A clock that stands still until `pass` moves it; then the sleeps end whose time has come. */
export function manualClock(random = 0.5) {
  let time = begin;
  const asleep = new Set<{ until: number; end: () => void }>();
  /** How long each sleep was to last. */
  const sleeps: number[] = [];
  const clock: Clock = {
    now: () => time,
    monotonic: () => time - begin,
    random: () => random,
    sleep(ms, signal) {
      sleeps.push(ms);
      return new Promise((resolve) => {
        const sleeper = {
          until: time + ms,
          end() {
            asleep.delete(sleeper);
            resolve();
          },
        };
        asleep.add(sleeper);
        signal?.addEventListener('abort', sleeper.end);
        if (signal?.aborted) sleeper.end();
      });
    },
  };
  const pass = (ms: number) => {
    time += ms;
    for (const { until, end } of [...asleep]) if (until <= time) end();
  };
  return { clock, pass, sleeps };
}

type Store = TaskStore & PushConfigStore;

/** The objects that webhooks of the queue `q` are delivered with, on a clock that stands still. */
export function delivering(options: PushOptions = {}, given: { store?: Store; random?: number } = {}) {
  const { clock, pass, sleeps } = manualClock(given.random);
  const store = given.store ?? memoryStore({ now: clock.now, monotonic: clock.monotonic });
  const log: unknown[] = [];
  const retry = { baseDelayMs: 1_000, ...options.retry };
  const dependencies: DeliveryDependencies = {
    store,
    push: createWebhooks(store, { allow: ['127.0.0.1:*'], ...options, retry })!,
    clock,
    logger: (...entry) => void log.push(entry),
    report: (...entry) => void log.push(entry),
    telemetry: undefined,
    options: { queue: 'q', pollMs: 1_000, timeouts: { leaseMs: 5_000, storeMs: 5_000 } },
  };
  return { store, dependencies, clock, pass, sleeps, log, failing: new FailingWebhooks() };
}

/** Writes a log of these facts, and the webhooks that get them. */
export async function keep(
  store: Store,
  facts: readonly Fact[],
  webhooks: readonly Partial<PushConfig>[] = [],
  taskId = 't',
): Promise<void> {
  const head = {
    state: 'TASK_STATE_WORKING',
    closed: false,
    contextId: 'c',
    version: facts.length,
    statusAt: at,
    statusVersion: facts.length,
    generation: facts.length,
    turn: 1,
    attempt: 1,
  } as const;
  const commit: Commit = { scope: 's', taskId, commitId: 'commit', expectedVersion: 0, facts, head };
  await store.commit(commit);
  for (const more of webhooks) await store.putPushConfig({ ...push(''), cursor: 0, ...more, taskId });
}

/** Claims the only webhook that has something to deliver. */
export async function claimed(store: Store, ttlMs = 60_000): Promise<Delivery> {
  const [delivery] = await store.claimDeliveries({ queue: 'q', holder: 'h', ttlMs, limit: 1 });
  if (!delivery) throw new Error('Nothing to deliver');
  return delivery;
}
