import type { PushConfig, PushConfigStore, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { pushConfigChecks } from '../src/checks/webhooks/push-configs.ts';
import { type Opened, runCheck } from '../src/fixture/check.ts';
import { override } from '../src/fixture/expectations.ts';

type Both = TaskStore & PushConfigStore;

const later = '2999-01-01T00:00:00.000Z';
const keyOf = ({ scope, taskId, id }: Pick<PushConfig, 'scope' | 'taskId' | 'id'>) =>
  `${scope} ${taskId} ${id}`;

const brokenStores: Record<string, (store: Both) => Partial<Both>> = {
  'sets a cursor back': (store) => ({
    async putPushConfig(push, atMost) {
      await store.removePushConfig(push.scope, push.taskId, push.id);
      return store.putPushConfig(push, atMost);
    },
  }),
  'lets a delivery of a replaced webhook go on': (store) => ({
    async putPushConfig(push, atMost) {
      if (await store.getPushConfig(push.scope, push.taskId, push.id)) return true;
      return store.putPushConfig(push, atMost);
    },
  }),
  'takes outcomes from earlier claims': () => ({ advance: async () => true }),
  'gives one delivery to many': (store) => ({
    async claimDeliveries(request) {
      const given = await store.claimDeliveries(request);
      for (const delivery of given) await store.advance(delivery, { cursor: delivery.push.cursor });
      return given;
    },
  }),
  'does not hear of the longest wait': (store) => ({
    claimDeliveries: ({ beyondMs: _, ...request }) => store.claimDeliveries(request),
  }),
  'ignores the limit': (store) => ({
    claimDeliveries: (request) => store.claimDeliveries({ ...request, limit: 99 }),
  }),
  'does not wait before it tries again': (store) => ({
    advance: (delivery, outcome) =>
      store.advance(
        delivery,
        'retryAt' in outcome ? { ...outcome, retryAt: '2020-01-01T00:00:00.000Z' } : outcome,
      ),
  }),
  'never tries again': (store) => ({
    advance: (delivery, outcome) =>
      store.advance(delivery, 'retryAt' in outcome ? { ...outcome, retryAt: later } : outcome),
  }),
  'plans by the log as it was before an outcome was recorded': (store) => {
    const recording = new Set<Promise<boolean>>();
    return {
      async commit(commit) {
        await Promise.resolve();
        const meanwhile = [...recording];
        const committed = await store.commit(commit);
        for (const recorded of meanwhile) {
          await recorded;
          const late = { queue: 'q', holder: 'lost', ttlMs: 60_000, limit: 9 };
          await store.claimDeliveries(late);
        }
        return committed;
      },
      advance(delivery, outcome) {
        const recorded = store.advance(delivery, outcome);
        recording.add(recorded);
        return recorded.finally(() => recording.delete(recorded));
      },
    };
  },
  'delivers to the dead': (store) => ({
    advance: (delivery, outcome) =>
      store.advance(delivery, 'dead' in outcome ? { cursor: delivery.push.cursor } : outcome),
  }),
  'does not keep its own copy': (store) => ({
    advance: (delivery, outcome) =>
      store.advance(delivery, 'cursor' in outcome ? { cursor: outcome.cursor } : outcome),
  }),
  'leaves out secrets': (store) => ({
    putPushConfig: (push, atMost) =>
      store.putPushConfig({ ...push, config: { ...push.config, token: undefined } }, atMost),
  }),
  'takes more webhooks than a task may have': (store) => ({
    putPushConfig: (push) => store.putPushConfig(push),
  }),
  'takes none in the place of another where there is no room': (store) => ({
    async putPushConfig(push, atMost = Number.POSITIVE_INFINITY) {
      const known = await store.listPushConfigs(push.scope, push.taskId, { limit: 99 });
      return known.length < atMost && store.putPushConfig(push);
    },
  }),
  'pages with overlap': (store) => ({
    listPushConfigs: (scope, taskId, { limit, after }) =>
      store.listPushConfigs(scope, taskId, { limit, after: after?.slice(0, -1) }),
  }),
  'finds webhooks of other scopes': (store) => ({
    getPushConfig: (_, taskId, id) => store.getPushConfig('s', taskId, id),
  }),
  'revives whatever it is asked to': (store) => ({
    async revive(...args) {
      await store.revive(...args);
      return true;
    },
  }),
  'cannot retry at once': () => ({ retryNow: async () => {} }),
  'cannot revive': () => ({ revive: async () => false }),
  'shows the dead of all queues': (store) => ({
    async listDead(_, page) {
      return [...(await store.listDead('q', page)), ...(await store.listDead('p', page))];
    },
  }),
  'never notifies of deliveries': (store) => ({
    subscribe: async () => () => {},
    close: () => store.close(),
  }),
  'prunes undelivered webhooks': (store) => {
    const pushes = new Map<string, PushConfig>();
    return {
      async putPushConfig(push) {
        pushes.set(keyOf(push), { ...push, attempts: 0 });
        return store.putPushConfig(push);
      },
      async prune(options) {
        for (const { scope, taskId, id } of pushes.values()) await store.removePushConfig(scope, taskId, id);
        return store.prune(options);
      },
    };
  },
  'never prunes what had a webhook': (store) => ({
    async prune(options) {
      const dead = await store.listDead('q', { limit: 99 });
      for (const { scope, taskId, id } of dead) await store.revive(scope, taskId, id);
      return store.prune(options);
    },
  }),
};

/** `timeoutMs`: how long a notification is waited for. A broken store never sends it; a good one does, on a busy machine too. */
async function failures(open: () => Opened<Both>, timeoutMs = 60): Promise<string[]> {
  const failed: string[] = [];
  for (const check of pushConfigChecks) {
    const passed = await runCheck(check, open, { timeoutMs, runs: 1 }).then(
      () => true,
      () => false,
    );
    if (!passed) failed.push(check.title);
  }
  return failed;
}

describe('the suite of push configs', () => {
  it('has nothing against a store that keeps to the port', async () => {
    expect(await failures(() => ({ store: memoryStore() }), 30_000)).toEqual([]);
  });

  it.each(Object.entries(brokenStores))('rejects a store that %s', async (_, methods) => {
    const failed = await failures(() => {
      const store = memoryStore();
      return { store: override(store, methods(store)) };
    });
    expect(failed).not.toEqual([]);
  });
});
