/** A worker process: claims tasks and runs their turns; it has no port but that of its probes. */
import { createWorker } from '@batonjs/server/worker';
import { agentOptions } from './agent-options.ts';
import { answerProbes, graceMs } from './probes.ts';

const worker = createWorker(agentOptions);
const endProbes = await answerProbes(worker);
process.send?.({});

process.once('SIGTERM', async () => {
  await worker.close({ graceMs });
  await agentOptions.store.close();
  await endProbes();
  if (process.connected) process.disconnect();
});
process.on('disconnect', () => process.exit());
