import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repetitions } from '../kit/repetitions.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import { outliveKills } from './due-kills.ts';

/** Tasks that only processes work on that live for a moment, and are killed or frozen then. */

const [redis, postgres] = await Promise.all([redisForTests(), postgresForTests()]);
const urls = { sqlite: '', redis: redis?.url, postgres: postgres?.url };
const kinds = (['sqlite', 'redis', 'postgres'] as const).filter((kind) => urls[kind] !== undefined);
const count = repetitions(8, 100);

it.each(kinds)(
  'timers, questions, children, webhooks, schedules and deadlines all end on %s',
  { timeout: 300_000 },
  async (kind) => {
    const folder = temporaryFolder();
    const at = urls[kind] || join(folder, 'tasks.db');
    const address = { kind, at, part: `part-${randomUUID()}` };
    const pace = 'seconds';
    const shown = await outliveKills({ address, folder, count, forMs: 240_000, processes: 2, pace });
    expect(shown.problems).toEqual([]);
    expect(shown.unanswered).toBe(0);
    expect(shown.kills).toBeGreaterThan(0);
    expect(shown.scheduled).toBeGreaterThan(2);
  },
);
