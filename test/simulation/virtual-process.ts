import type { Clock } from '@batonjs/server/internals';
import { seeded } from '../../scripts/workload/random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A process that can be paused and killed: nothing happens in it but what was delivered to it. */
export class VirtualProcess {
  readonly clock: Clock;
  readonly #time: VirtualTime;
  readonly #onDeath = new Set<() => void>();
  readonly #held: (() => void)[] = [];
  #state: 'running' | 'paused' | 'dead' = 'running';

  /** `skewMs`: how wrong its wall clock is. */
  constructor(time: VirtualTime, name: string, skewMs: number) {
    this.#time = time;
    this.clock = {
      now: () => time.now + skewMs,
      monotonic: () => time.now,
      sleep: (ms, signal) => this.#sleep(ms, signal),
      random: seeded(name),
    };
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  /** Runs something in this process after so many milliseconds; later if it is paused then, never if it is dead. */
  deliver(ms: number, run: () => void): () => void {
    let canceled = false;
    const cancel = this.#time.schedule(ms, () => {
      if (this.#state === 'paused') this.#held.push(() => !canceled && run());
      else if (this.#state === 'running') run();
    });
    return () => {
      canceled = true;
      cancel();
    };
  }

  /** Calls `listener` if the process dies, until the returned function is called. */
  onDeath(listener: () => void): () => void {
    this.#onDeath.add(listener);
    return () => void this.#onDeath.delete(listener);
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    // In the order in which it came, before anything else.
    for (const [n, run] of this.#held.splice(0).entries())
      this.#time.schedule(0, () => this.#state !== 'dead' && run(), n / 1e9 - 1);
  }

  kill(): void {
    this.#state = 'dead';
    for (const listener of [...this.#onDeath]) listener();
    this.#onDeath.clear();
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.deliver(ms, done);
      signal?.addEventListener('abort', done);
      if (signal?.aborted) done();
    });
  }
}
