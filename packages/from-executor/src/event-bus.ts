import type { AgentExecutionEvent, ExecutionEventBus } from '@a2a-js/sdk/server';

type Listener = (...args: never[]) => void;

/** The bus that an executor publishes on: what it publishes is read one by one, until it says that it has finished. */
export class EventBus implements ExecutionEventBus {
  readonly #waiting: AgentExecutionEvent[] = [];
  readonly #listeners: { name: string; listener: Listener; once: boolean }[] = [];
  #ring = Promise.withResolvers<void>();
  #finished = false;

  publish(event: AgentExecutionEvent): void {
    if (this.#finished) return;
    this.#waiting.push(event);
    this.#tell('event', event);
    this.#ring.resolve();
  }

  finished(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#tell('finished');
    this.#ring.resolve();
  }

  /** The next event; undefined when there will be none. */
  async next(): Promise<AgentExecutionEvent | undefined> {
    while (this.#waiting.length === 0 && !this.#finished) {
      this.#ring = Promise.withResolvers();
      await this.#ring.promise;
    }
    return this.#waiting.shift();
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

  #tell(name: 'event' | 'finished', ...args: AgentExecutionEvent[]): void {
    for (const entry of [...this.#listeners]) {
      if (entry.name !== name) continue;
      if (entry.once) this.off(name, entry.listener);
      entry.listener(...(args as never[]));
    }
  }
}
