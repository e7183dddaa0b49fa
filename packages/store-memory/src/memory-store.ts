import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { createStore, mustKnowOptions } from '@batonjs/store/adapter';
import { MemoryRows } from './memory-rows.ts';

export interface MemoryStoreOptions {
  /** The clock of deadlines and of times to start, in milliseconds since 1970. Default: the wall clock. */
  readonly now?: (() => number) | undefined;
  /** The clock of leases, in milliseconds since any moment; never set. Default `performance.now`. */
  readonly monotonic?: (() => number) | undefined;
  /**
   * How many bytes ended tasks may take, about. Beyond, the store deletes those that ended first, except where a webhook
   * is still to be notified. Open tasks are never deleted. Default 256 MiB; `Infinity` keeps all.
   */
  readonly closedBytes?: number | undefined;
}

/**
 * Tasks in the memory of this process, gone when it ends. Servers and workers share tasks by sharing one store object.
 * What it returns is a copy, or frozen and shared between readers.
 */
export function memoryStore(options: MemoryStoreOptions = {}): TaskStore & PushConfigStore {
  mustKnowOptions(options, known);
  const { now, monotonic = () => performance.now(), closedBytes = 256 * 1024 * 1024 } = options;
  return createStore('in memory', new MemoryRows(now, monotonic, closedBytes));
}

const known: Record<keyof MemoryStoreOptions, true> = { now: true, monotonic: true, closedBytes: true };
