import { randomUUID } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import { redisStore } from '@batonjs/store-redis';
import { describe } from 'vitest';
import { generationScenarios } from '../../packages/server/test/scenarios/generation.ts';
import { laterScenarios } from '../../packages/server/test/scenarios/later.ts';
import { lossScenarios } from '../../packages/server/test/scenarios/loss.ts';
import { queueOwnerScenarios } from '../../packages/server/test/scenarios/queue-owners.ts';
import { recoveryScenarios } from '../../packages/server/test/scenarios/recovery.ts';
import { scheduleScenarios } from '../../packages/server/test/scenarios/schedule.ts';
import { severalServersScenarios } from '../../packages/server/test/scenarios/several-servers.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { repetitions } from '../kit/repetitions.ts';
import { redisForTests } from '../support/redis.ts';

const redis = await redisForTests();

/** Each has its own part of the one Redis. */
const newStore = (): TaskStore =>
  closedAfterTest(redisStore({ url: redis?.url, prefix: `scenarios-${randomUUID()}` }));

/** Memory and SQLite run all scenarios in every run. Each other store runs its share of them there, and all in long ones. */
const isLong = repetitions(0, 1) > 0;

describe.skipIf(!redis)('on Redis', () => {
  describe('several servers', () => severalServersScenarios(newStore));
  describe('later', () => laterScenarios(newStore));
  describe('turns of processes that died, or were late', () => recoveryScenarios(newStore));
  if (!isLong) return;
  describe('what an agent said', () => lossScenarios(newStore, [0]));
  describe('queues that agents share by mistake', () => queueOwnerScenarios(newStore));
  describe('generations', () => generationScenarios(newStore));
  describe('with a schedule', () => scheduleScenarios(newStore));
});
