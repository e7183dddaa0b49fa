/** A worker that runs the turns of servers in other processes. */
import { createWorker } from '@batonjs/server/worker';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { agent } from '../agents.ts';
import { type StoreChoice, storeOf } from '../stores.ts';

createWorker({ agent, store: storeOf(given<StoreChoice>()) });
answer(vitals);
