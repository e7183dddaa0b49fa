import { join } from 'node:path';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { queueOwnerScenarios } from './queue-owners.ts';

describe('in memory', () => queueOwnerScenarios(memoryStore));
describe('in SQLite', () =>
  queueOwnerScenarios(() => closedAfterTest(sqliteStore(join(temporaryFolder(), 'tasks.db')))));
