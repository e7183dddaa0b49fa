import { forkTask } from '@batonjs/operator';
import { createAgentServer } from '@batonjs/server';
import { stepping } from './forked-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** Forks a task after its step two, prints the id of the fork, and kills itself in the middle of step three. */
const [address, journal, origin] = process.argv.slice(2) as [string, string, string];
const store = openStore(JSON.parse(address) as StoreAddress);
const server = createAgentServer({
  ...stepping(
    journal,
    true,
    (taskId) =>
      new Promise(() => {
        process.stdout.write(`fork ${taskId}\n`, () => process.kill(process.pid, 'SIGKILL'));
      }),
  ),
  store,
});
await forkTask(server, origin, { from: 'two', by: 'a process that dies' });
