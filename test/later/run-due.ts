import { setTimeout as sleep } from 'node:timers/promises';
import { dueServers } from './due-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** A process that works on what is due until it is told to end. It ends by itself then. */
const [address = '', journal = ''] = process.argv.slice(2);
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
const { signal } = ending;
const store = openStore(JSON.parse(address) as StoreAddress);
const servers = dueServers(journal, store);
process.send?.('up');
process.disconnect?.();
while (!signal.aborted) {
  const runs = await Promise.all(servers.map((server) => server.runDue({ forMs: 1_200, signal })));
  const nextAt = Math.min(...runs.map((run) => run.nextAt ?? Number.POSITIVE_INFINITY));
  await sleep(Math.min(300, Math.max(1, nextAt - Date.now())), undefined, { signal }).catch(() => {});
}
await store.close();
