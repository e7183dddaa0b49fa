/**
 * An agent over WebSocket in a process of its own: `node server-process.ts <database> <port>`. It counts to ten, in steps
 * that another attempt does not repeat. Tells its parent the port and, when asked for it, the memory that it uses.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { completed, createAgentServer, type Turn, type Updates, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { attachWebSocket } from '../src/index.ts';

const [database = '', port = '0'] = process.argv.slice(2);

async function* count({ text, task, signal }: Turn): Updates {
  if (text === 'hold') {
    yield working('Holding');
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return;
  }
  const said = task?.status.message?.parts[0];
  const last = said && 'text' in said ? Number(said.text) : 0;
  for (let number = last + 1; number <= 10; number++) {
    yield working(String(number));
    await sleep(100, undefined, { signal });
  }
  yield completed('Counted');
}

const server = createAgentServer({
  card: { name: 'Counter', description: 'Counts' },
  agent: count,
  store: database ? sqliteStore(database) : memoryStore(),
  restart: 'rerun',
  timeouts: { leaseMs: 1_000 },
  logger: () => {},
});
const listener = createServer(nodeHandler(server));
attachWebSocket(server, listener, { burst: 100_000 });
listener.listen(Number(port), '127.0.0.1', () => {
  process.send?.((listener.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit());
process.on('message', () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage().heapUsed + process.memoryUsage().external);
});
