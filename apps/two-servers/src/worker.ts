/** A worker process: claims tasks and runs their turns; it has no port. */
import { createWorker } from '@batonjs/server/worker';
import { agentOptions } from './agent-options.ts';

const worker = createWorker(agentOptions);
process.send?.({});

process.once('SIGTERM', async () => {
  await worker.close();
  await agentOptions.store.close();
  if (process.connected) process.disconnect();
});
process.on('disconnect', () => process.exit());
