/** One server process of a run: two agents on one store, behind HTTP. Its orders come from the process that started it. */
import { createServer } from 'node:http';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentServer, createAgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import type { TaskStore } from '@batonjs/store';
import express from 'express';
import { faultyStore, type Sabotage, sabotage } from '../../test/histories/faults.ts';
import { countingAgent, retryOf } from '../workload/agent.ts';
import { seeded } from '../workload/random.ts';
import { type MediumName, mediumOf } from './medium.ts';

/** The options of a process. */
export interface ServerOrders {
  readonly store: MediumName;
  readonly location: string;
  readonly leaseMs: number;
  readonly seed: string;
  readonly sabotage?: Sabotage;
  /** How often the store fails or is slow; none if false. */
  readonly faults: boolean;
  /** Whether every other process works only during calls and short runs. */
  readonly due?: boolean;
}

const orders = JSON.parse(process.argv[2] ?? '{}') as ServerOrders;
const { leaseMs } = orders;
const random = seeded(orders.seed);
let calm = !orders.faults;
process.on('message', () => {
  calm = true;
});
process.on('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  await Promise.all(servers.map((server) => server.close({ graceMs: leaseMs })));
  process.exit();
});

/** A store without notifications, for servers that also do not sweep: only their first claim finds work. */
function deaf(store: TaskStore): TaskStore {
  let claimed = false;
  const silent = sabotage(store, 'notification');
  return new Proxy(silent, {
    get(target, name) {
      if (name !== 'claim') return Reflect.get(target, name);
      return (request: Parameters<TaskStore['claim']>[0]) => {
        if (claimed && !request.task) return Promise.resolve([]);
        claimed = true;
        return target.claim(request);
      };
    },
  });
}

function broken(store: TaskStore): TaskStore {
  if (orders.sabotage === undefined) return store;
  return orders.sabotage === 'notification' ? deaf(store) : sabotage(store, orders.sabotage);
}

const opened = await mediumOf(orders.store).open(orders.location);
const store = faultyStore(broken(opened), {
  random,
  rates: { delay: 0.1, failBefore: 0.01, failAfter: 0.02, loseNotification: 0.1, repeatNotification: 0.05 },
  sleep: (ms) => sleep(ms),
  active: () => !calm,
});

const isDue = orders.due && Number(orders.seed.split('/').at(-1)) % 2 === 1;

/** As a cron calls it. */
async function runShortly(server: AgentServer): Promise<void> {
  while (!server.closing.aborted) {
    await server.runDue({ forMs: leaseMs * 2 }).catch(() => {});
    await sleep((leaseMs / 2) * random());
  }
}

const app = express();
const servers: AgentServer[] = [];
for (const restart of ['rerun', 'fail'] as const) {
  const server = createAgentServer({
    card: { name: restart, description: 'Counts' },
    name: restart,
    agent: countingAgent((ms) => sleep(ms)),
    store,
    run: isDue && restart === 'rerun' ? 'due' : 'here',
    restart: restart === 'rerun' ? { maxAttempts: 1_000 } : restart,
    retry: retryOf(leaseMs),
    timeouts: {
      leaseMs,
      sweepMs: orders.sabotage === 'notification' ? Number.POSITIVE_INFINITY : leaseMs / 2,
      storeMs: leaseMs,
      cancelGraceMs: leaseMs / 4,
      cancelMs: leaseMs,
      blockingMs: leaseMs,
    },
    messages: { idempotency: true },
    logger: (level, message, details) => {
      if (process.env.CHAOS_LOG && level === 'error') console.error(process.pid, message, details);
    },
  });
  servers.push(server);
  if (isDue && restart === 'rerun') void runShortly(server);
  app.use(`/${restart}`, a2aExpress(server));
}
const http = createServer(app).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (http.address() as AddressInfo).port });
  // A process that is killed writes nothing when it ends.
  flushCompileCache();
});
