import { bulkTasks } from '@batonjs/operator';
import { createAgentServer } from '@batonjs/server';
import { asking } from './bulk-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** Cancels all tasks that ask, prints the id of the run, and kills itself once so many were asked to cancel. */
const [address, dieAfter] = process.argv.slice(2) as [string, string];
const store = openStore(JSON.parse(address) as StoreAddress);
const server = createAgentServer({ ...asking, run: 'workers', store });
for await (const { id, done } of bulkTasks(server, { action: 'cancel', labels: ['asks'] }))
  if (done >= Number(dieAfter))
    await new Promise(() => process.stdout.write(`run ${id}\n`, () => process.kill(process.pid, 'SIGKILL')));
