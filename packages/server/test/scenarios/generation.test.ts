import { join } from 'node:path';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { generationScenarios } from './generation.ts';

describe('on one store in memory', () => generationScenarios(memoryStore));
describe('on one file of SQLite', () =>
  generationScenarios(() => closedAfterTest(sqliteStore(join(temporaryFolder(), 'tasks.db')))));
