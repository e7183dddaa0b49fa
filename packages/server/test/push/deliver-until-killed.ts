import { sqliteStore } from '@batonjs/store-sqlite';
import { createAgentServer } from '../../src/index.ts';
import { rpc, say } from '../rpc.ts';
import { chatty, quick } from './settings.ts';

/** A process of its own: starts a task with a webhook, delivers, and is killed at it. */
const [path = '', url = ''] = process.argv.slice(2);
const server = createAgentServer({
  card: { name: 'Test', description: 'For tests' },
  agent: chatty,
  store: sqliteStore(path),
  leaseMs: 1_000,
  push: quick,
});
const configuration = { taskPushNotificationConfig: { url, token: 'kept' } };
await rpc(server, 'SendMessage', { message: say('go'), configuration });
