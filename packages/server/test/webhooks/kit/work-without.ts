import { sqliteStore } from '@batonjs/store-sqlite';
import { createWorker } from '../../../src/worker.ts';
import { chatty, quick } from './settings.ts';

/** A worker in a process of its own, without an option of webhooks that the server has. */
const [path = '', without = ''] = process.argv.slice(2);
const { allow, ...others } = quick;
const worker = createWorker({
  agent: chatty,
  store: sqliteStore(path),
  push: without === 'allow' ? others : { ...others, allow },
});
await worker.ready();
console.log('ready');
