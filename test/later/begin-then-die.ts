import { createAgentServer } from '@batonjs/server';
import { rpc, say } from '../kit/rpc.ts';
import { openStore, type StoreAddress } from './open-store.ts';
import { versioned } from './versioned-agent.ts';

/** A process of version v1: begins the turns of two tasks, prints their ids once both are at work, and kills itself. */
const store = openStore(JSON.parse(process.argv[2]!) as StoreAddress);
const begun: string[] = [];
const server = createAgentServer({
  ...versioned('v1', (taskId) => {
    begun.push(taskId);
    if (begun.length === 2)
      process.stdout.write(`${JSON.stringify(begun)}\n`, () => process.kill(process.pid, 'SIGKILL'));
    return new Promise(() => {});
  }),
  store,
});
const configuration = { returnImmediately: true };
for (const text of ['one', 'two']) await rpc(server, 'SendMessage', { message: say(text), configuration });
