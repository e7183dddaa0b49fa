import { describe, expect, it } from 'vitest';
import { runScript } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStart } from '../support/redis.ts';

const kills = String(repetitions(1, 6));
const tasks = repetitions(12, 40);
/** What Redis adds is tested with the store; here it takes a third of the time. */
const stores = ['sqlite-normal', 'redis'].slice(0, repetitions(1, 2));

/** Runs the crash harness of the task gateway; resolves to its exit code and to what its last line says. */
const chaos = (...args: string[]) => runScript('scripts/gateway-chaos.ts', '--tasks', String(tasks), ...args);

const perfect = { tasks, runs: tasks, twice: 0, lost: 0, unknown: 0, disordered: 0, violations: 0 };

const hasRedis = await canStart();

describe.each(stores)('two processes of a gateway on one store: %s', (store) => {
  it.skipIf(store === 'redis' && !hasRedis)(
    'run each task once that is submitted through both while they are killed, and show each update once and in order',
    { timeout: 300_000 },
    async () => {
      const { code, report, output } = await chaos('--store', store, '--kills', kills);
      expect(report, output).toMatchObject(perfect);
      expect(report.kills).toBeGreaterThan(0);
      expect(code).toBe(0);
    },
  );
});

it('run no task twice at an agent without idempotency: a task that it may have got fails', {
  timeout: 300_000,
}, async () => {
  const { code, report, output } = await chaos('--foreign', '--kills', kills);
  expect(report, output).toMatchObject({ twice: 0, lost: 0, disordered: 0, violations: 0 });
  expect(report.runs + report.unknown).toBeGreaterThanOrEqual(tasks);
  expect(code).toBe(0);
});
