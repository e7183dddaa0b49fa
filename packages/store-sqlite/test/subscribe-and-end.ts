import { follow } from '@batonjs/store-conformance/checks';
import { sqliteStore } from '../src/index.ts';
import { create } from './logs.ts';

// Subscribes and follows without an end, and never closes anything: the process must end by itself all the same.

process.disconnect?.();
const store = sqliteStore(process.argv[2]!);
await create(store, 't');
await store.subscribe({ queue: 'q' }, () => {});
void follow(store, 's', 't', 1).next();
