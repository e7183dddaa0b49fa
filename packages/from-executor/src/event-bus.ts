import type { AgentExecutionEvent, ExecutionEventBus } from '@a2a-js/sdk/server';

type Listener = (...args: never[]) => void;

/** The bus of one execution. It queues the published events until `next` reads them. */
export class EventBus implements ExecutionEventBus {
  readonly #queue: AgentExecutionEvent[] = [];
  readonly #listeners: { name: string; listener: Listener; once: boolean }[] = [];
  #changed = Promise.withResolvers<void>();
  #finished = false;

  publish(event: AgentExecutionEvent): void {
    if (this.#finished) return;
    this.#queue.push(event);
    this.#emit('event', event);
    this.#changed.resolve();
  }

  finished(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#emit('finished');
    this.#changed.resolve();
  }

  /** The next event; undefined after the executor has finished. */
  async next(): Promise<AgentExecutionEvent | undefined> {
    while (this.#queue.length === 0 && !this.#finished) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
    return this.#queue.shift();
  }

  on(name: 'event' | 'finished', listener: Listener): this {
    this.#listeners.push({ name, listener, once: false });
    return this;
  }

  once(name: 'event' | 'finished', listener: Listener): this {
    this.#listeners.push({ name, listener, once: true });
    return this;
  }

  off(name: 'event' | 'finished', listener: Listener): this {
    const index = this.#listeners.findIndex((other) => other.name === name && other.listener === listener);
    if (index >= 0) this.#listeners.splice(index, 1);
    return this;
  }

  removeAllListeners(name?: 'event' | 'finished'): this {
    const others = this.#listeners.filter((other) => name !== undefined && other.name !== name);
    this.#listeners.splice(0, this.#listeners.length, ...others);
    return this;
  }

  #emit(name: 'event' | 'finished', ...args: AgentExecutionEvent[]): void {
    for (const entry of [...this.#listeners]) {
      if (entry.name !== name) continue;
      if (entry.once) this.off(name, entry.listener);
      entry.listener(...(args as never[]));
    }
  }
}
