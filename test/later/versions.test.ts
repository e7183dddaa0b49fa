import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createAgentServer } from '@batonjs/server';
import { expect, it, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { rpc, say } from '../kit/rpc.ts';
import { scope } from '../kit/scope.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { until } from '../kit/until.ts';
import { builtProgram } from '../support/built-program.ts';
import { etcdForTests } from '../support/etcd.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import { openStore, type StoreAddress } from './open-store.ts';
import { versioned } from './versioned-agent.ts';

const isLong = repetitions(0, 1) === 1;
const [redis, postgres, etcd] = await Promise.all([
  redisForTests(),
  postgresForTests(),
  isLong ? etcdForTests() : undefined,
]);

const beginThenDie = await builtProgram(new URL('./begin-then-die.ts', import.meta.url));

const places: readonly [StoreAddress['kind'], string | undefined][] = [
  ['sqlite', 'tasks.db'],
  ['redis', redis?.url],
  ['postgres', postgres?.url],
  ['etcd', etcd?.urls.join(',')],
];

it.each(places.filter(([, url]) => url !== undefined))(
  'turns that a killed process of one version began go on under that version only, and none is unserved unseen: %s',
  async (kind, url) => {
    const at = kind === 'sqlite' ? join(temporaryFolder(), url!) : url!;
    const address: StoreAddress = { kind, at, part: `versions-${randomUUID()}` };
    await using dying = run(node, [beginThenDie, JSON.stringify(address)]);
    expect(await dying.ended, dying.output).toBe('SIGKILL');
    const [one, two] = JSON.parse(dying.output.split('\n').find((line) => line.startsWith('['))!);
    const store = closedAfterTest(openStore(address));
    const logged: string[] = [];
    const serve = (version: string) =>
      closedAfterTest(
        createAgentServer({
          ...versioned(version),
          store,
          logger: (_level, message) => void logged.push(message),
        }),
      );
    const next = serve('v2');
    const warning = '2 tasks wait for version "v1"';
    await vi.waitFor(async () => expect(await next.readiness()).toEqual({ isReady: true, warning }), {
      timeout: 30_000,
      interval: 200,
    });
    expect(logged).toContain(warning);
    // The process of the other version works, on its own tasks, and leaves those two alone.
    const { task: own } = await rpc(next, 'SendMessage', { message: say('three') });
    expect(own.status.message.parts).toEqual([{ text: 'done by v2' }]);
    // A cancel needs no code of the agent.
    const { status } = await rpc(next, 'CancelTask', { id: two });
    expect(status.state).toBe('TASK_STATE_CANCELED');
    serve('v1');
    const done = await until(next, one, 'COMPLETED');
    expect(done.status.message?.parts).toEqual([{ text: 'done by v1' }]);
    const facts = await store.readFacts(scope, one, 0, 100);
    const starts = facts.flatMap(({ fact }) => (fact.type === 'turn-started' ? [fact] : []));
    expect(starts.map(({ attempt, version }) => [attempt, version])).toEqual([
      [1, 'v1'],
      [2, 'v1'],
    ]);
    await vi.waitFor(async () => expect(await next.readiness()).toEqual({ isReady: true }), {
      timeout: 30_000,
      interval: 200,
    });
  },
);

it('turns of a version that is gone go on elsewhere once they are released, or where a version accepts them', async () => {
  const address: StoreAddress = { kind: 'sqlite', at: join(temporaryFolder(), 'tasks.db'), part: '' };
  await using dying = run(node, [beginThenDie, JSON.stringify(address)]);
  expect(await dying.ended, dying.output).toBe('SIGKILL');
  const [one, two] = JSON.parse(dying.output.split('\n').find((line) => line.startsWith('['))!);
  const store = closedAfterTest(openStore(address));
  const serve = (version: string, deploys: 'pinned' | ((version: string) => boolean)) =>
    closedAfterTest(
      createAgentServer({
        ...versioned(version),
        version: { name: version, deploys },
        store,
        logger: () => {},
      }),
    );
  const next = serve('v2', 'pinned');
  await vi.waitFor(async () => expect(await store.pinned!('agent', 'v1', 9)).toHaveLength(2), 30_000);
  expect(await store.unpin!('agent', 'v1', 1)).toBe(1);
  const ended = await Promise.any([until(next, one, 'COMPLETED'), until(next, two, 'COMPLETED')]);
  expect(ended.status.message?.parts).toEqual([{ text: 'done by v2' }]);
  serve('v3', (version) => version === 'v1');
  const other = await until(next, ended.id === one ? two : one, 'COMPLETED');
  expect(other.status.message?.parts).toEqual([{ text: 'done by v3' }]);
});
