import { randomUUID } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { afterAll, describe } from 'vitest';
import { generationScenarios } from '../../packages/server/test/scenarios/generation.ts';
import { laterScenarios } from '../../packages/server/test/scenarios/later.ts';
import { lossScenarios } from '../../packages/server/test/scenarios/loss.ts';
import { queueOwnerScenarios } from '../../packages/server/test/scenarios/queue-owners.ts';
import { recoveryScenarios } from '../../packages/server/test/scenarios/recovery.ts';
import { severalServersScenarios } from '../../packages/server/test/scenarios/several-servers.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStartEtcd, startEtcd } from '../support/etcd.ts';

/** What three members add is tested by the failures of members, and here in `test:long`. */
const members = repetitions(1, 3);
const cluster = (await canStartEtcd()) ? await startEtcd({ members, inMemory: true }) : undefined;
afterAll(() => cluster?.stop());

/** Each has its own keys in the one cluster. */
const newStore = (): TaskStore =>
  closedAfterTest(etcdStore(cluster!.urls, { prefix: `scenarios/${randomUUID()}` }));

/** Memory and SQLite run all scenarios in every run. Each other store runs its share of them there, and all in long ones. */
const isLong = repetitions(0, 1) > 0;

describe.skipIf(!cluster)('on etcd', () => {
  describe('queues that agents share by mistake', () => queueOwnerScenarios(newStore));
  describe('later', () => laterScenarios(newStore));
  describe('generations', () => generationScenarios(newStore));
  describe('turns of processes that died, or were late', () => recoveryScenarios(newStore));
  if (!isLong) return;
  describe('what an agent said', () => lossScenarios(newStore, [0]));
  describe('several servers', () => severalServersScenarios(newStore));
});
