import { appendFileSync } from 'node:fs';
import { completed, createAgentServer, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';

/** An agent in a process of its own. Each attempt is written to a file; the first one works until it is killed. */
const { PORT, DATABASE, LEDGER } = process.env as Record<string, string>;

const server = createAgentServer({
  card: { name: 'Child', description: 'Is called' },
  async *agent(turn) {
    appendFileSync(LEDGER!, `${turn.attempt}\n`);
    if (turn.attempt > 1) return yield completed('Done after all');
    yield working('Working');
    await new Promise(() => {});
  },
  store: sqliteStore(DATABASE!),
  restart: 'rerun',
  timeouts: { leaseMs: 500 },
  logger: () => {},
});
const { url } = await listen(server, { port: Number(PORT) });
console.log(`The child is at ${url}`);
