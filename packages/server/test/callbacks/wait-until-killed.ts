import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHandler } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { createAgentServer } from '../../src/index.ts';
import { waitingAgent } from './serve-callbacks.ts';

/** A process of its own: opens a callback, prints its URL and the id of its task, and is killed at a request to it. */
const [path = '', dies = ''] = process.argv.slice(2);
const { agent, url } = waitingAgent();
const listener = createServer();
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests' },
  agent,
  store: sqliteStore(path),
  publicUrl: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
  callbacks: true,
  restart: 'rerun',
  timeouts: { leaseMs: 2_000 },
});
const handle = nodeHandler(server);
listener.on('request', (request, response) => {
  // After the last byte of the answer was given to the system, or before the server knows of the request.
  if (dies === 'after') response.on('finish', () => process.kill(process.pid, 'SIGKILL'));
  else process.kill(process.pid, 'SIGKILL');
  handle(request, response);
});
const { task } = await rpc(server, 'SendMessage', {
  message: say('go'),
  configuration: { returnImmediately: true },
});
console.log(`${await url} ${task.id}`);
