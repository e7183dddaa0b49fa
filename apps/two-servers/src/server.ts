/** A server process: answers requests, and leaves the turns to workers. */
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { agentOptions } from './agent-options.ts';
import { answerProbes, graceMs } from './probes.ts';

const server = createAgentServer({
  ...agentOptions,
  card: { name: 'Counter', description: 'Asks how far, then counts.' },
  run: 'workers',
  publicUrl: process.env.PUBLIC_URL,
});
const { HOST: host, PORT: port } = process.env;
const { url, close } = await listen(server, { ...(host && { host }), port: Number(port ?? 0) });
const endProbes = await answerProbes(server);
process.send?.({ url });

process.once('SIGTERM', async () => {
  await close({ graceMs });
  await agentOptions.store.close();
  // Last: `/readyz` says meanwhile that the process drains.
  await endProbes();
  // Without a parent that listens, in a container, there is no channel.
  if (process.connected) process.disconnect();
});
process.on('disconnect', () => process.exit());
