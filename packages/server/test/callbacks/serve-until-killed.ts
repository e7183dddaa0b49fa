import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHandler } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { createAgentServer } from '../../src/index.ts';
import { askingAgent } from './asking-agent.ts';
import { begin } from './serve-callbacks.ts';

/** A process of its own: an agent on a file asks a person, and prints the link, and the id of its task. */
const [path = ''] = process.argv.slice(2);
const { agent, links } = askingAgent();
const listener = createServer();
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests' },
  agent,
  store: sqliteStore(path),
  publicUrl: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
  callbacks: true,
});
listener.on('request', nodeHandler(server));
const id = await begin(server);
console.log(`${(await links)[0]} ${id}`);
