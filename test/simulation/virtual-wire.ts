import type { HttpReply } from '@batonjs/bindings';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import { Broken, resultOf, type Seen, type Wire } from '../../scripts/workload/wire.ts';
import type { VirtualProcess } from './virtual-process.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface VirtualWireOptions {
  readonly time: VirtualTime;
  readonly process: VirtualProcess;
  readonly server: Pick<AgentServer, 'handle'>;
  readonly latency: () => number;
  /** How long nothing may come before the connection is given up, in milliseconds. */
  readonly patienceMs: number;
}

/** What a connection brings: pieces of the body in order, then the end, or an error instead of it. */
interface Arrivals {
  next(): Promise<string | undefined>;
  leave(): void;
}

/** JSON-RPC to a server in a virtual process, as over a connection that breaks when the process dies. */
export function virtualWire(options: VirtualWireOptions): Wire {
  return {
    async call(method, params) {
      const { next, leave } = connect(options, method, params);
      try {
        return resultOf(JSON.parse((await next()) ?? ''));
      } finally {
        leave();
      }
    },

    async *stream(method, params, lastEventId) {
      const { next, leave } = connect(options, method, params, lastEventId);
      try {
        for (let text = await next(); text !== undefined; text = await next()) {
          if (text.startsWith('{')) return void resultOf(JSON.parse(text));
          yield* eventsIn(text);
        }
      } finally {
        leave();
      }
    },
  };
}

function* eventsIn(text: string): Generator<Seen> {
  for (const block of text.split('\n\n')) {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    const id = /^id: (.*)$/m.exec(block)?.[1];
    if (data !== undefined) yield { id, event: resultOf(JSON.parse(data)) as Seen['event'] };
  }
}

function connect(
  { time, process, server, latency, patienceMs }: VirtualWireOptions,
  method: string,
  params: object,
  lastEventId?: string,
): Arrivals {
  const gone = new AbortController();
  const arrived: (string | undefined)[] = [];
  let changed = Promise.withResolvers<void>();
  let broken = false;
  let latest = 0;
  let pieces = 0;
  const arrive = (text: string | undefined) => {
    // What was sent earlier arrives earlier.
    latest = Math.max(latest, time.now + latency());
    const deliver = () => {
      arrived.push(text);
      changed.resolve();
    };
    time.schedule(latest - time.now, deliver, pieces++ / 1e9);
  };
  const fail = () => {
    broken = true;
    changed.resolve();
  };
  const forget = process.onDeath(() => void time.schedule(latency(), fail));
  if (process.isDead) time.schedule(latency(), fail);

  const exchange: HttpExchange = {
    method: 'POST',
    path: '/',
    query: new URLSearchParams(),
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    readBody: async () => ({ value: JSON.parse(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })) }),
    signal: gone.signal,
  };
  process.deliver(latency(), async () => {
    const { body }: HttpReply = await server.handle(exchange);
    if (typeof body === 'string') arrive(body);
    else for await (const text of body ?? []) arrive(text);
    arrive(undefined);
  });

  return {
    async next() {
      while (arrived.length === 0) {
        if (broken) throw new Broken(`${method} was not answered`);
        changed = Promise.withResolvers();
        const cancel = time.schedule(patienceMs, fail);
        await changed.promise;
        cancel();
      }
      return arrived.shift();
    },
    leave() {
      forget();
      process.deliver(latency(), () => gone.abort());
    },
  };
}
