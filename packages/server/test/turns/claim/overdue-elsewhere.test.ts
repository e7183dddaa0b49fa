import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { working } from '../../../src/index.ts';

const minute = 60_000;

/** A task whose turn waits for the version v1, and a server of v2 that looks after it. */
async function unserved(timeouts: { taskMs?: number }) {
  const clock = testClock(new Date('2026-01-01T00:00:00Z'));
  const store = memoryStore({ now: clock.now, monotonic: clock.monotonic });
  const ran: string[] = [];
  const begin = (version: string) =>
    serve(
      async function* () {
        ran.push(version);
        yield working();
        await new Promise(() => {});
      },
      {
        clock,
        store,
        timeouts,
        version: { name: version, deploys: 'pinned' },
        restart: 'rerun',
      },
    );
  const first = begin('v1');
  const configuration = { returnImmediately: true };
  const sent = rpc(first, 'SendMessage', { message: say('go'), configuration });
  await clock.advance(10);
  const { id } = (await sent).task;
  const closed = first.close({ graceMs: 0 });
  await clock.advance(10);
  await closed;
  const server = begin('v2');
  const statusOf = async () => (await rpc(server, 'GetTask', { id })).status;
  const claimable = () => store.pinned!('agent', 'v1', 9);
  return { clock, store, ran, statusOf, claimable, id, begin, server };
}

it('a turn that waits for a version that no process runs ends with the time of its task, in any version', async () => {
  const { clock, store, ran, statusOf, claimable, id, server } = await unserved({ taskMs: 2 * minute });
  await clock.advance(minute);
  expect([(await statusOf()).state, (await claimable()).length]).toEqual(['TASK_STATE_WORKING', 1]);
  expect(server.load.tasks).toBe(0);
  await clock.advance(minute + 6_000);
  const { state, message } = await statusOf();
  expect([state, JSON.stringify(message)]).toEqual([
    'TASK_STATE_FAILED',
    expect.stringContaining('DEADLINE_EXCEEDED'),
  ]);
  expect(ran).toEqual(['v1']);
  const facts = await store.readFacts(scope, id, 0, 100);
  expect(facts.filter(({ fact }) => fact.type === 'turn-started')).toHaveLength(1);
});

it('it waits for its version where tasks may take any time, and goes on there', async () => {
  const { clock, ran, statusOf, claimable, begin } = await unserved({});
  await clock.advance(10 * minute);
  expect([(await statusOf()).state, (await claimable()).length]).toEqual(['TASK_STATE_WORKING', 1]);
  begin('v1');
  await clock.advance(2_000);
  expect([ran, await claimable()]).toEqual([['v1', 'v1'], []]);
});
