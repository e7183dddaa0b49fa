import { randomUUID } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import { postgresStore } from '@batonjs/store-postgres';
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
import { postgresForTests } from '../support/postgres.ts';

const postgres = await postgresForTests();

/** Each has its own schema in the one PostgreSQL. */
const newStore = (): TaskStore =>
  closedAfterTest(postgresStore(postgres!.url, { schema: `scenarios-${randomUUID()}`, connections: 3 }));

/** Memory and SQLite run all scenarios in every run. Each other store runs its share of them there, and all in long ones. */
const isLong = repetitions(0, 1) > 0;

describe.skipIf(!postgres)('on PostgreSQL', () => {
  describe('what an agent said', () => lossScenarios(newStore, [0]));
  describe('queues that agents share by mistake', () => queueOwnerScenarios(newStore));
  describe('with a schedule', () => scheduleScenarios(newStore));
  describe('turns of processes that died, or were late', () => recoveryScenarios(newStore));
  if (!isLong) return;
  describe('several servers', () => severalServersScenarios(newStore));
  describe('later', () => laterScenarios(newStore));
  describe('generations', () => generationScenarios(newStore));
});
