import {
  type Answer,
  isPending,
  type PushConfigStore,
  type TaskStore,
  type Unsubscribe,
} from '@batonjs/store';
import type { Clock } from '../timing/clock.ts';
import { bounded, type CallWatch } from '../timing/within-deadline.ts';

type Store = TaskStore | (TaskStore & PushConfigStore);
/** Makes a call within the time limit. `late` is given the result of a call that took longer. */
type AnswerInTime = <T>(call: () => Answer<T>, late?: (value: T) => void) => Answer<T>;
type InTime = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * The store with a time limit of `ms` milliseconds for each call; a call that takes longer rejects with `UNAVAILABLE`,
 * and may still be done. `prune` and `close` have no limit. The result is a `PushConfigStore` if the store is one. `watch`
 * hears how each call ends.
 */
export function boundedStore(store: Store, ms: number, clock: Clock, watch?: CallWatch): Store {
  const answerInTime: AnswerInTime = (call, late) => {
    try {
      const answer = call();
      if (isPending(answer)) return bounded(answer, ms, clock, late, watch);
      watch?.answered();
      return answer;
    } catch (error) {
      watch?.failed(error);
      return Promise.reject(error);
    }
  };
  const inTime: InTime = (call) => Promise.resolve(answerInTime(call));
  const tasks = boundedTasks(store, inTime, answerInTime);
  return 'claimDeliveries' in store ? { ...tasks, ...boundedPushConfigs(store, inTime) } : tasks;
}

function boundedTasks(store: TaskStore, inTime: InTime, answerInTime: AnswerInTime): TaskStore {
  return {
    commit: (commit) => answerInTime(() => store.commit(commit)),
    load: (scope, taskId) => inTime(() => store.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      inTime(() => store.readFacts(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => inTime(() => store.list(scope, query)),
    ...(store.searchesText && { searchesText: () => inTime(() => store.searchesText!()) }),
    subscribe: (topic, notify) => answerInTime(() => store.subscribe(topic, notify), end),
    ...(store.system && { system: store.system }),
    ...(store.isPrivate && { isPrivate: true }),
    ...(store.schedules && { schedules: true }),
    claim: (request) => inTime(() => store.claim(request)),
    renew: (leases, ttlMs) => inTime(() => store.renew(leases, ttlMs)),
    waiting: (queue, atMost) => inTime(() => store.waiting(queue, atMost)),
    prune: (options) => store.prune(options),
    ...(store.measure && { measure: (queue) => inTime(() => store.measure!(queue)) }),
    ...(store.erase && { erase: (scope, taskId) => inTime(() => store.erase!(scope, taskId)) }),
    ...(store.forgetTurns && {
      forgetTurns: (queue, scope) => inTime(() => store.forgetTurns!(queue, scope)),
    }),
    ...(store.lease && { lease: (scope, taskId) => inTime(() => store.lease!(scope, taskId)) }),
    ...(store.pinned && {
      pinned: (queue, version, limit) => inTime(() => store.pinned!(queue, version, limit)),
    }),
    ...(store.unpin && {
      unpin: (queue, version, limit) => inTime(() => store.unpin!(queue, version, limit)),
    }),
    getRecord: (name) => inTime(() => store.getRecord(name)),
    putRecord: (...args) => inTime(() => store.putRecord(...args)),
    deleteRecord: (name, revision) => inTime(() => store.deleteRecord(name, revision)),
    listRecords: (query) => inTime(() => store.listRecords(query)),
    ...(store.take && { take: (bucket, rate) => inTime(() => store.take!(bucket, rate)) }),
    ...(store.probe && { probe: () => inTime(() => store.probe!()) }),
    ping: () => inTime(() => store.ping()),
    identity: () => inTime(() => store.identity()),
    close: () => store.close(),
  };
}

function boundedPushConfigs(store: PushConfigStore, inTime: InTime): PushConfigStore {
  return {
    putPushConfig: (push, atMost) => inTime(() => store.putPushConfig(push, atMost)),
    getPushConfig: (scope, taskId, id) => inTime(() => store.getPushConfig(scope, taskId, id)),
    listPushConfigs: (scope, taskId, page) => inTime(() => store.listPushConfigs(scope, taskId, page)),
    removePushConfig: (scope, taskId, id) => inTime(() => store.removePushConfig(scope, taskId, id)),
    claimDeliveries: (request) => inTime(() => store.claimDeliveries(request)),
    advance: (delivery, outcome) => inTime(() => store.advance(delivery, outcome)),
    retryNow: (webhooks) => inTime(() => store.retryNow(webhooks)),
    listDead: (queue, page) => inTime(() => store.listDead(queue, page)),
    revive: (scope, taskId, id) => inTime(() => store.revive(scope, taskId, id)),
  };
}

/** Ends a subscription that was made too late: its caller has given up. */
async function end(unsubscribe: Unsubscribe): Promise<void> {
  try {
    await unsubscribe();
  } catch {
    // The store cannot be reached now, and drops the subscription with the connection.
  }
}
