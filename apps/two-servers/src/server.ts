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
const { url, close } = await listen(server);
process.send?.({ url });

process.once('SIGTERM', async () => {
  await close();
  await agentOptions.store.close();
  process.disconnect();
});
process.on('disconnect', () => process.exit());
