import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { extend, progress, taskProgress } from '@batonjs/extensions';
import { artifact, completed, createAgentServer, data, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';

/** The agent behind the gateways, in a process that is not killed. */
export interface LedgerAgent {
  readonly url: string;
  /** How often the task with each number was run. */
  readonly ledger: ReadonlyMap<number, number>;
  close(): Promise<void>;
}

/** Serves an agent that counts its runs, works in steps, and gives back the number of the task. */
export async function serveLedgerAgent(idempotency: boolean): Promise<LedgerAgent> {
  const ledger = new Map<number, number>();
  const counting = extend(
    {
      card: { name: 'Ledger', description: 'Counts its runs' },
      agent: async function* ({ values }) {
        const n = Number(values.n);
        ledger.set(n, (ledger.get(n) ?? 0) + 1);
        for (let step = 0; step < 4; step++) {
          yield working(`Step ${step}`, progress(step, 4));
          await sleep(25);
        }
        yield artifact('result', data({ n }));
        yield completed();
      },
    },
    taskProgress,
  );
  const server = createAgentServer({
    ...counting,
    store: memoryStore(),
    messages: { idempotency },
    logger: () => {},
  });
  const listener = createServer(nodeHandler(server)).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    ledger,
    async close() {
      listener.close().closeAllConnections();
      await server.close({ graceMs: 0 });
    },
  };
}
