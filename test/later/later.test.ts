import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgentServer } from '@batonjs/server';
import { afterAll, expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { scope } from '../kit/scope.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { until } from '../kit/until.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import { laterOptions } from './later-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

const [redis, postgres] = await Promise.all([redisForTests(), postgresForTests()]);
afterAll(() => Promise.all([redis?.stop(), postgres?.stop()]));

const places: readonly [StoreAddress['kind'], string | undefined][] = [
  ['sqlite', 'tasks.db'],
  ['redis', redis?.url],
  ['postgres', postgres?.url],
];

it.each(places.filter(([, url]) => url !== undefined))(
  'tasks that are put off or asleep outlive the process that accepted them, which is killed: %s [R-SEED-19]',
  async (kind, url) => {
    const at = kind === 'sqlite' ? join(temporaryFolder(), url!) : url!;
    const address: StoreAddress = { kind, at, part: `later-${randomUUID()}` };
    const script = fileURLToPath(new URL('./accept-then-die.ts', import.meta.url));
    await using dying = run(node, ['--conditions=@batonjs/source', script, JSON.stringify(address)]);
    expect(await dying.ended).toBe('SIGKILL');
    const [putOff, asleep] = JSON.parse(dying.output.split('\n').find((line) => line.startsWith('['))!);
    const store = closedAfterTest(openStore(address));
    const server = closedAfterTest(createAgentServer({ ...laterOptions, store, log: () => {} }));
    const textOf = async (id: string) => (await until(server, id, 'COMPLETED')).status.message?.parts;
    expect(await textOf(putOff)).toEqual([{ text: `started in ${process.pid}` }]);
    expect(await textOf(asleep)).toEqual([{ text: `woken in ${process.pid}` }]);
    for (const [id, turns] of [
      [putOff, 1],
      [asleep, 2],
    ] as const) {
      const facts = await store.readFacts(scope, id, 0, 100);
      expect(facts.filter(({ fact }) => fact.type === 'turn-started')).toHaveLength(turns);
    }
  },
);
