export type Feed<Value> = Pick<ReturnType<typeof feedOf<Value>>, 'get' | 'subscribe'>;

/**
 * A value that changes, for `useSyncExternalStore`. It works while it has subscribers, and keeps its value without them.
 * `start`: begins to keep the value current, until the signal is aborted.
 */
export function feedOf<Value>(value: Value, start: (signal: AbortSignal) => void) {
  const listeners = new Set<() => void>();
  let current = value;
  let running: AbortController | undefined;
  let stopping: ReturnType<typeof setTimeout> | undefined;

  return {
    /** The value, the same object until it changes. */
    get: (): Value => current,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      clearTimeout(stopping);
      if (!running) {
        running = new AbortController();
        start(running.signal);
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        // Not at once: strict mode, and a list that is sorted again, unsubscribe and subscribe again.
        clearTimeout(stopping);
        stopping = setTimeout(() => {
          running?.abort();
          running = undefined;
        }, 0);
      };
    },
    /** Sets the value and notifies the subscribers. */
    set(value: Value): void {
      current = value;
      for (const listener of [...listeners]) listener();
    },
  };
}
