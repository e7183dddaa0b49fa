import { createAgentServer } from '@batonjs/server';
import { openStore, type StoreAddress } from './open-store.ts';
import { recurringOptions } from './recurring-agent.ts';

/** A process with a task for each second, until it is killed. */
const store = openStore(JSON.parse(process.argv[2]!) as StoreAddress);
createAgentServer({ ...recurringOptions(), store });
setInterval(() => {}, 1_000_000);
console.log('ready');
