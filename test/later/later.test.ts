import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgentServer } from '@batonjs/server';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { scope } from '../kit/scope.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { until } from '../kit/until.ts';
import { builtProgram } from '../support/built-program.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import { laterOptions } from './later-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

// When a turn is due, every store is asked by its conformance suite, from two processes; here only in `test:long`.
const isLong = repetitions(0, 1) === 1;
const [redis, postgres] = isLong ? await Promise.all([redisForTests(), postgresForTests()]) : [];

const acceptThenDie = await builtProgram(new URL('./accept-then-die.ts', import.meta.url));

const places: readonly [StoreAddress['kind'], string | undefined][] = [
  ['sqlite', 'tasks.db'],
  ['redis', redis?.url],
  ['postgres', postgres?.url],
];

it.each(places.filter(([, url]) => url !== undefined))(
  'tasks that are postponed or asleep outlive the process that accepted them, which is killed: %s [R-SEED-19]',
  async (kind, url) => {
    const at = kind === 'sqlite' ? join(temporaryFolder(), url!) : url!;
    const address: StoreAddress = { kind, at, part: `later-${randomUUID()}` };
    await using dying = run(node, [acceptThenDie, JSON.stringify(address)]);
    expect(await dying.ended).toBe('SIGKILL');
    const [postponed, asleep] = JSON.parse(dying.output.split('\n').find((line) => line.startsWith('['))!);
    const store = closedAfterTest(openStore(address));
    const server = closedAfterTest(createAgentServer({ ...laterOptions, store, logger: () => {} }));
    const textOf = async (id: string) => (await until(server, id, 'COMPLETED')).status.message?.parts;
    expect(await textOf(postponed)).toEqual([{ text: `started in ${process.pid}` }]);
    expect(await textOf(asleep)).toEqual([{ text: `woken in ${process.pid}` }]);
    for (const [id, turns] of [
      [postponed, 1],
      [asleep, 2],
    ] as const) {
      const facts = await store.readFacts(scope, id, 0, 100);
      expect(facts.filter(({ fact }) => fact.type === 'turn-started')).toHaveLength(turns);
    }
  },
);

it.each([
  ['memory', undefined],
  ['sqlite', 'tasks.db'],
])(
  'times that people and agents name go by the wall clock after it was set back: %s [R-SEED-19]',
  async (_, file) => {
    const script = fileURLToPath(new URL('./stepped-clock.ts', import.meta.url));
    const args = file === undefined ? [] : [join(temporaryFolder(), file)];
    await using stepped = run(node, ['--conditions=@batonjs/source', script, ...args]);
    expect(await stepped.ended, stepped.output).toBe(0);
    const { whileCorrected, steps } = JSON.parse(
      stepped.output.split('\n').find((line) => line.startsWith('{'))!,
    );
    const { immediateWakes, ...others } = whileCorrected;
    expect(others).toEqual({ before: 1, reminder: 1, after: 1 });
    // A turn that asks for this very moment starts at once, and then after pauses that grow.
    expect(immediateWakes).toBeGreaterThanOrEqual(2);
    expect(immediateWakes).toBeLessThan(10);
    expect(steps).toEqual([
      ['The wall clock was set', -3_600],
      ['The wall clock was set', 3_600],
    ]);
  },
);
