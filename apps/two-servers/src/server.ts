/** A server process: answers requests, and leaves the turns to workers. */
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { agentOptions } from './agent-options.ts';

const server = createAgentServer({
  ...agentOptions,
  card: { name: 'Counter', description: 'Asks how far, then counts.' },
  run: 'workers',
  publicUrl: process.env.PUBLIC_URL,
});
const { HOST: host, PORT: port } = process.env;
const { url, close } = await listen(server, { ...(host && { host }), port: Number(port ?? 0) });
process.send?.({ url });

process.once('SIGTERM', async () => {
  await close();
  await agentOptions.store.close();
  // Without a parent that listens, in a container, there is no channel.
  if (process.connected) process.disconnect();
});
process.on('disconnect', () => process.exit());
