import type { Fact } from '@batonjs/lifecycle';
import { PREVIEW_VERSION } from '@batonjs/protocol/headers';
import { describe, expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { deliver, deliveryMs } from '../../src/webhooks/deliver.ts';
import { hostOf } from '../../src/webhooks/hosts/failing-webhooks.ts';
import { push } from './kit/push-config.ts';
import { at, begin, claimed, delivering, keep, received, status, woken } from './kit/stored-task.ts';
import { webhook } from './kit/webhook.ts';

const open = new AbortController().signal;
const created: Fact = { format: 1, at, type: 'task-created', taskId: 't', contextId: 'c' };
const nothing = { works: true, tookOne: false };

/** A log of these facts, its webhook, and what is delivered with. */
async function logged(facts: readonly Fact[], more: Parameters<typeof keep>[2] = [{}]) {
  const hook = await webhook();
  const bench = delivering();
  await keep(
    bench.store,
    facts,
    more.map((one) => ({ ...push(hook.url()), cursor: 0, ...one })),
  );
  const { store, dependencies, failing } = bench;
  const run = async (ttlMs?: number) => deliver(await claimed(store, ttlMs), dependencies, failing, open);
  const kept = (id = 'w') => store.getPushConfig('s', 't', id);
  return { ...bench, hook, run, kept };
}

const textsOf = (hook: Awaited<ReturnType<typeof webhook>>) => hook.received.map(({ event }) => event);
const updateOf = (fact: Fact) => ({ statusUpdate: { taskId: 't', contextId: 'c', ...statusOf(fact) } });
const statusOf = (fact: Fact) => (fact.type === 'status-changed' ? { status: fact.status } : {});

describe('a delivery', () => {
  it('is claimed for an attempt and a quarter besides the lease, in whole milliseconds', () => {
    const { dependencies } = delivering({ timeoutMs: 1_001 });
    expect(deliveryMs(dependencies)).toBe(5_000 + 1_252);
  });

  it('moves past facts that no webhook wants without a request', async () => {
    const { hook, run, kept } = await logged([received, created, woken]);
    expect(await run()).toEqual(nothing);
    expect([hook.received, (await kept())?.cursor]).toEqual([[], 3]);
  });

  it('reads the first fact of the log once more only where it is needed', async () => {
    const facts = [received, status(), ...Array(30).fill(woken), status()];
    const { store, dependencies, failing } = await logged(facts);
    const reads: number[] = [];
    const watched = change(store, {
      readFacts: (read) => (scope, taskId, after, limit) => {
        reads.push(after);
        return read(scope, taskId, after, limit);
      },
    });
    for (let n = 0; n < 3; n++)
      await deliver(await claimed(store), { ...dependencies, store: watched }, failing, open);
    expect(reads).toEqual([0, 16, 32, 0]);
  });

  it('posts at most those of 16 facts, and the rest in the next one, of the same task', async () => {
    const { hook, run, kept } = await logged([received, ...Array(19).fill(status())]);
    expect(await run()).toEqual({ works: true, tookOne: true });
    expect([hook.received.length, (await kept())?.cursor]).toEqual([15, 16]);
    expect(await run()).toEqual({ works: true, tookOne: true });
    expect([hook.received.length, (await kept())?.cursor]).toEqual([19, 20]);
    expect(new Set(textsOf(hook).map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(updateOf(status()))]),
    );
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(19);
  });

  it('of a log with facts of another format waits, and keeps the count of its failures', async () => {
    const newer = { ...status(), format: 99 as never };
    const { store, dependencies, failing, hook, kept } = await logged([received, status(), newer]);
    const before = await claimed(store);
    const failed = { ...before, push: { ...before.push, attempts: 3 } };
    expect(await deliver(failed, dependencies, failing, open)).toEqual(nothing);
    const retryAt = new Date(begin + 500).toISOString();
    expect([hook.received, await kept()]).toMatchObject([[], { cursor: 0, attempts: 3, retryAt }]);
  });

  it('of a log that was answered with a message removes the webhook', async () => {
    const message = { messageId: 'a', role: 'ROLE_AGENT' as const, parts: [{ text: 'Hello' }] };
    const { hook, run, kept } = await logged([received, { format: 1, at, type: 'answered', message }]);
    expect(await run()).toEqual(nothing);
    expect([hook.received, await kept()]).toEqual([[], undefined]);
  });

  it('of a log that is gone posts nothing and keeps its position', async () => {
    const { store, dependencies, failing, hook } = await logged([received, status()]);
    const outcomes: unknown[] = [];
    const advance = async (_: unknown, outcome: unknown) => outcomes.push(outcome) > 0;
    const gone = change(store, { readFacts: () => async () => [], advance: () => advance });
    const with_ = { ...dependencies, store: gone, push: { ...dependencies.push, store: gone } };
    const delivery = await claimed(store);
    const late = { ...delivery, push: { ...delivery.push, cursor: 1 } };
    expect(await deliver(late, with_, failing, open)).toEqual(nothing);
    expect([outcomes, hook.received]).toEqual([[{ cursor: 1 }], []]);
    // Pruned after the updates were read, and before the first fact was.
    const pruned = change(store, {
      readFacts: (read) => async (scope, taskId, after, limit) =>
        after === 0 ? [] : read(scope, taskId, after, limit),
    });
    expect(await deliver(late, { ...dependencies, store: pruned }, failing, open)).toEqual({
      works: true,
      tookOne: true,
    });
    expect(hook.received).toEqual([]);
  });

  it('keeps its claim from one update to the next, and gives it back after the last', async () => {
    const { store, dependencies, failing } = await logged([received, status(), status(), status(), woken]);
    const outcomes: unknown[] = [];
    const watched = change(store, {
      advance: (advance) => (delivery, outcome) => {
        outcomes.push(outcome);
        return advance(delivery, outcome);
      },
    });
    const watching = { ...dependencies, push: { ...dependencies.push, store: watched } };
    await deliver(await claimed(store), watching, failing, open);
    const keep = { ttlMs: deliveryMs(dependencies) };
    expect(outcomes).toEqual([{ cursor: 2, keep }, { cursor: 3, keep }, { cursor: 5 }]);
  });

  it('that lost its claim leaves the rest to the process that has it', async () => {
    const { store, dependencies, failing } = delivering();
    const hook = await webhook(() => async (response) => {
      // Registered again: the delivery of the old one must not go on.
      await store.putPushConfig(push(hook.url(), 'w', { cursor: 0 }));
      response.writeHead(200).end();
    });
    await keep(store, [received, status(), status(), status()], [push(hook.url(), 'w', { cursor: 0 })]);
    expect(await deliver(await claimed(store), dependencies, failing, open)).toEqual({
      works: true,
      tookOne: true,
    });
    expect(hook.received).toHaveLength(1);
  });

  it('that arrives ends the failures of its webhook', async () => {
    const { run, failing, hook } = await logged([received, status()]);
    const url = hook.url();
    failing.failed(push(url), { isRejection: true, mayBeEarly: true });
    await run();
    expect(failing.takeEarly(hostOf(push(url)))).toEqual([]);
  });

  it('of the preview version counts generations, none for a task that is gone meanwhile [R-P11-31]', async () => {
    const facts = [received, created, status(), status('INPUT_REQUIRED')];
    const { store, dependencies, failing, hook, run } = await logged(facts, [
      { protocolVersion: PREVIEW_VERSION },
      { id: 'late', protocolVersion: PREVIEW_VERSION },
    ]);
    const generations = () =>
      textsOf(hook).map((event) => (Object.values(event)[0] as { generation?: string }).generation);
    await run();
    expect(generations()).toEqual(['2', '3']);
    const gone = change(store, { load: () => async () => undefined });
    await deliver(await claimed(store), { ...dependencies, store: gone }, failing, open);
    expect(generations().slice(2)).toEqual(['0', '0']);
  });
});
