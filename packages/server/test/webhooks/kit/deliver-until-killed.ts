import { sqliteStore } from '@batonjs/store-sqlite';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { createAgentServer } from '../../../src/index.ts';
import { chatty, quick } from './settings.ts';

/** A process of its own: starts a task with a webhook, delivers, and is killed at it. */
const [path = '', url = ''] = process.argv.slice(2);
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests' },
  agent: chatty,
  store: sqliteStore(path),
  timeouts: {
    // How long it takes until another process may go on; on a busy machine the turn must not lose it before.
    leaseMs: 4_000,
  },
  push: { ...quick, timeoutMs: 2_000 },
});
const configuration = { taskPushNotificationConfig: { url, token: 'kept' } };
await rpc(server, 'SendMessage', { message: say('go'), configuration });
// The task is done; only deliveries are left.
console.log('done');
