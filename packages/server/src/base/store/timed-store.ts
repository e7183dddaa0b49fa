import { type Answer, isPending, type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import type { StoreCall, StoreOperation } from '../hooks/telemetry.ts';

type Store = TaskStore | (TaskStore & PushConfigStore);

/** Refusals that belong to normal work: another writer was first, the task has ended or is gone, the queue is full. */
const normal = ['VERSION_CONFLICT', 'LOG_CLOSED', 'FENCED', 'QUEUE_FULL', 'LOG_GAP', 'LOG_DELETED'] as const;

/** The store, which tells how long its calls take. Only made where telemetry listens. */
export function timedStore(store: Store, report: (call: StoreCall) => void): Store {
  const { system } = store;
  function timed<T>(operation: StoreOperation, call: () => Answer<T>): Answer<T> {
    const began = performance.now();
    const over = (error?: unknown) =>
      report({
        operation,
        system,
        ms: performance.now() - began,
        ...(error !== undefined && !normal.some((code) => StoreError.is(error, code)) && { error }),
      });
    const answer = call();
    if (!isPending(answer)) {
      over();
      return answer;
    }
    return answer.then(
      (value) => {
        over();
        return value;
      },
      (error: unknown) => {
        over(error);
        throw error;
      },
    );
  }
  const later = <T>(operation: StoreOperation, call: () => Promise<T>) =>
    Promise.resolve(timed(operation, call));
  return {
    ...store,
    commit: (commit) => timed('commit', () => store.commit(commit)),
    load: (scope, taskId) => later('read', () => store.load(scope, taskId)),
    readFacts: (scope, taskId, after, limit, lastCommitId) =>
      later('read', () => store.readFacts(scope, taskId, after, limit, lastCommitId)),
    list: (scope, query) => later('list', () => store.list(scope, query)),
    claim: (request) => later('claim', () => store.claim(request)),
    renew: (leases, ttlMs) => later('renew', () => store.renew(leases, ttlMs)),
    ...('claimDeliveries' in store && {
      claimDeliveries: (request) => later('deliver', () => store.claimDeliveries(request)),
    }),
  };
}
