import { createAgentServer } from '@batonjs/server';
import { durableObjectStore, type ObjectStorage } from '@batonjs/store-sqlite/durable-object';
import { agent, card } from './agent.ts';

interface Env {
  readonly PUBLIC_URL: string;
  readonly AGENT: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const week = 7 * 24 * 60 * 60 * 1_000;

/** Serves the agent, works on its tasks and keeps them. Its alarm wakes it for timers, retries and webhooks. */
export class Agent {
  readonly #store;
  readonly #server;

  constructor({ storage }: { readonly storage: ObjectStorage }, { PUBLIC_URL: publicUrl }: Env) {
    this.#store = durableObjectStore(storage);
    this.#server = createAgentServer({
      name: '{{name}}',
      card,
      agent,
      store: this.#store,
      // A turn whose object was evicted is run again: `turn.step` keeps what must not be done twice.
      restart: 'rerun',
      // An object that starts ends the leases of the one before. Questions that are not answered are kept for a week.
      timeouts: { leaseMs: 60_000, interruptedMs: week },
      retention: { closedAfterMs: week },
      logger: (level, message, { err }) => console.error(level, message, err ?? ''),
      ...(publicUrl && { publicUrl }),
    });
  }

  fetch(request: Request): Promise<Response> {
    return this.#server.fetch(request);
  }

  alarm(): Promise<void> {
    return this.#store.alarm();
  }
}

/** One object has all tasks. With more, choose one by the caller, always the same for a task. */
export default {
  fetch: (request: Request, { AGENT }: Env) => AGENT.getByName('agent').fetch(request),
};
