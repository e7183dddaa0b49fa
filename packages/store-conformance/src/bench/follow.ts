import type { Scope, StoredFact, TaskStore } from '@batonjs/store';

/**
 * Yields the facts of a task after a position, then every new one, until it is aborted. It reads again only when it
 * was notified: a lost notification stops it, so that the checks notice. A server also sweeps.
 */
export async function* follow(
  store: TaskStore,
  scope: Scope,
  taskId: string,
  after: number,
  { signal, batch = 256 }: { readonly signal?: AbortSignal; readonly batch?: number } = {},
): AsyncGenerator<StoredFact> {
  let notified = Promise.withResolvers<void>();
  const notify = () => notified.resolve();
  let position = after;
  // Subscribe before reading, or a commit in between would be missed.
  const unsubscribe = await store.subscribe({ scope, taskId }, notify);
  signal?.addEventListener('abort', notify);
  try {
    while (!signal?.aborted) {
      notified = Promise.withResolvers();
      const facts = await store.readFacts(scope, taskId, position, batch);
      for (const stored of facts) {
        if (signal?.aborted) return;
        position = stored.version;
        yield stored;
      }
      if (facts.length === 0 && !signal?.aborted) await notified.promise;
    }
  } finally {
    signal?.removeEventListener('abort', notify);
    await unsubscribe();
  }
}
