import { setTimeout as sleep } from 'node:timers/promises';
import { dueServers, paces } from './due-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** A process that works on what is due until it is told to end. It ends by itself then. */
const [address = '', journal = '', named = ''] = process.argv.slice(2);
const pace = paces[named as keyof typeof paces];
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
const { signal } = ending;
const store = openStore(JSON.parse(address) as StoreAddress);
const servers = dueServers(journal, store, pace);
process.send?.('up');
process.disconnect?.();
while (!signal.aborted) {
  // A run fails where the store does, as a call of a host does: the next one makes it good.
  const failed = { nextAt: undefined };
  const runs = await Promise.all(
    servers.map((server) => server.runDue({ forMs: pace.forMs, signal }).catch(() => failed)),
  );
  const nextAt = Math.min(...runs.map((run) => run.nextAt ?? Number.POSITIVE_INFINITY));
  await sleep(Math.min(300, Math.max(1, nextAt - Date.now())), undefined, { signal }).catch(() => {});
}
await store.close();
