import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { type ServeOptions, serve } from '../../../../test/kit/serve.ts';
import type { CallbackRequest } from '../../src/agent/callback.ts';
import { type Agent, type AgentServer, completed, inputRequired, working } from '../../src/index.ts';

export const hour = 3_600_000;

/** What an agent saw of its callbacks in one turn. */
export interface Seen {
  readonly woken: boolean;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * An agent that opens a callback in its first turn, and ends in the next one. `ask`: asks a question meanwhile. `more`:
 * what the callback is asked for besides.
 */
export function waitingAgent({ ask = false, ...more }: Partial<CallbackRequest> & { ask?: boolean } = {}) {
  const seen: Seen[] = [];
  const opened = Promise.withResolvers<string>();
  const agent: Agent = async function* ({ callback, callbacks, woken }) {
    const values = Object.fromEntries(Object.entries(callbacks).map(([name, { value }]) => [name, value]));
    seen.push({ woken, values });
    if (seen.length > 1) return yield completed(JSON.stringify(values));
    yield working();
    opened.resolve((await callback({ expiresMs: hour, ...more })).url);
    if (ask) yield inputRequired('Paid already?');
  };
  return { agent, seen, url: opened.promise };
}

/** A server that takes callbacks, on a clock that the test moves, and what it logs. */
export function serveCallbacks(agent: Agent, options: ServeOptions = {}) {
  const clock = testClock();
  const { now, monotonic } = clock;
  const logged: unknown[] = [];
  const store = options.store ?? memoryStore({ now, monotonic });
  const server = serve(agent, {
    clock,
    callbacks: true,
    publicUrl: 'http://localhost/agent',
    logger: (...line) => logged.push(line),
    ...options,
    store,
  });
  return { server, store, clock, logged };
}

export const begin = async (server: AgentServer): Promise<string> =>
  (await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } })).task
    .id;

/** What came back. */
export interface Answered {
  readonly status: number;
  readonly error: string | undefined;
  readonly headers: Headers;
}

/** Posts a value as another system does. */
export async function post(
  { fetch }: Pick<AgentServer, 'fetch'>,
  url: string,
  value: unknown,
  more: RequestInit = {},
): Promise<Answered> {
  const response = await fetch(
    new Request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof value === 'string' ? value : JSON.stringify(value),
      ...more,
    }),
  );
  const text = await response.text();
  return {
    status: response.status,
    error: text === '' ? undefined : JSON.parse(text).error.message,
    headers: response.headers,
  };
}

export const statusOf = async (...sent: Parameters<typeof post>): Promise<number> =>
  (await post(...sent)).status;
