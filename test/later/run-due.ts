import { createAgentServer } from '@batonjs/server';
import { dueOptions } from './due-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** A process that works on what is due until nothing will be, and ends by itself then. */
const [address = '', journal = ''] = process.argv.slice(2);
const store = openStore(JSON.parse(address) as StoreAddress);
const server = createAgentServer({ ...dueOptions(journal), store });
for (let nextAt: number | undefined = 0; nextAt !== undefined; ) {
  ({ nextAt } = await server.runDue({ forMs: 800 }));
  const waitMs = Math.min(300, (nextAt ?? 0) - Date.now());
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}
await store.close();
