import type { KeyValue } from './key-value-store.ts';

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A database like one over the network: every call takes a moment, in which others get their turn. */
export function openDatabase(): KeyValue {
  const kept = new Map<string, { text: string; revision: number }>();
  const listeners = new Set<(key: string) => void>();
  let revision = 0;
  return {
    async get(key) {
      await soon();
      return kept.get(key);
    },
    async swap(key, expected, text) {
      await soon();
      if ((kept.get(key)?.revision ?? 0) !== expected) return false;
      if (text === undefined) kept.delete(key);
      else kept.set(key, { text, revision: ++revision });
      for (const hear of listeners) hear(key);
      return true;
    },
    async keys() {
      await soon();
      return [...kept.keys()];
    },
    onChange(hear) {
      const listener = (key: string) => hear(key);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
