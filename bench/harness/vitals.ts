import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

/** CPU time of this thread so far, in milliseconds. */
export function threadCpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** What every contender says about itself. */
export const vitals = {
  /** CPU time so far, all threads, in microseconds. */
  cpu(): number {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Bytes in use after a collection (needs `--expose-gc`): the heap, and what it holds outside. */
  memory(): number {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
  /** The longest the event loop did not turn since this was asked last, in milliseconds. */
  stall(): number {
    const longest = delay.max / 1e6;
    delay.reset();
    return longest;
  },
  /** Bytes that this process has handed to the system for files and sockets so far; undefined where only Linux says it. */
  written(): number | undefined {
    if (process.platform !== 'linux') return undefined;
    return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  },
};

export type Vitals = typeof vitals;
