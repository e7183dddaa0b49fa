import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { completeOptions, createStore } from '@batonjs/store/adapter';
import { memoryRows } from './memory-rows.ts';

const memoryOptions = {
  /** The clock of deadlines and of times to start, in milliseconds since 1970. Default: the wall clock. */
  now: undefined as (() => number) | undefined,
  /** The clock of leases, in milliseconds since any moment; never set. Default `performance.now`. */
  monotonic: () => performance.now(),
  /**
   * How many bytes ended tasks may take, about. Beyond, the store deletes those that ended first, except where a webhook
   * is still to be notified. Open tasks are never deleted. Default 256 MiB; `Infinity` keeps all.
   */
  closedBytes: 256 * 1024 * 1024,
};

export type MemoryStoreOptions = {
  readonly [Name in keyof typeof memoryOptions]?: (typeof memoryOptions)[Name] | undefined;
};

/**
 * Tasks in the memory of this process, gone when it ends. Servers and workers share tasks by sharing one store object.
 * What it returns is a copy, or frozen and shared between readers.
 */
export function memoryStore(options: MemoryStoreOptions = {}): TaskStore & PushConfigStore {
  const { now, monotonic, closedBytes } = completeOptions(memoryOptions, options);
  return createStore('in memory', memoryRows(now, monotonic, closedBytes));
}
