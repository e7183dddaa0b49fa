import { createAgentServer } from '@batonjs/server';
import { recurring } from '@batonjs/server/schedules';
import { openStore, type StoreAddress } from './open-store.ts';
import { versioned } from './versioned-agent.ts';

/** What a process of one version does. */
export interface VersionOrders {
  readonly address: StoreAddress;
  readonly version: string;
  /** Its turns never end. */
  readonly holds: boolean;
}

/** A process of one version with a task for each second, until it is killed. */
const { address, version, holds }: VersionOrders = JSON.parse(process.argv[2]!);
createAgentServer({
  ...versioned(version, () => (holds ? new Promise(() => {}) : Promise.resolve())),
  store: openStore(address),
  schedules: recurring([{ name: 'tick', cron: '* * * * * *', message: 'Tick', missed: 'all' }]),
});
setInterval(() => {}, 1_000_000);
console.log('ready');
