import { join } from 'node:path';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { laterScenarios } from './later.ts';

describe('in memory', () => laterScenarios(memoryStore));
describe('on SQLite', () =>
  laterScenarios(() => closedAfterTest(sqliteStore(join(temporaryFolder(), 'tasks.db')))));
