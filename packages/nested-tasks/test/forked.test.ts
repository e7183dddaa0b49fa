import type { CallingAgent } from '@batonjs/nested-tasks';
import { forkTask } from '@batonjs/operator';
import { completed, type Turn, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually, until } from '../../../test/kit/until.ts';
import { clientOf, serveParent, statesOf } from './family.ts';

it('a fork reuses children that ended, and starts those again that were at work for its origin', async () => {
  const released = Promise.withResolvers<void>();
  const quick = serve(async function* () {
    yield completed('Quick');
  });
  const slow = serve(async function* (_: Turn) {
    yield working();
    await released.promise;
    yield completed('Slow');
  });
  const store = memoryStore();
  const agent: CallingAgent = async function* (turn) {
    await turn.call(await clientOf(quick), 'Go', { name: 'quick' });
    await turn.call(await clientOf(slow), 'Go', { name: 'slow' });
    yield completed('Both');
  };
  const parent = serveParent(agent, {}, { store });
  const configuration = { returnImmediately: true };
  const { task } = await rpc(parent, 'SendMessage', { message: say('Go'), configuration });
  const length = await eventually(async () => {
    const facts = (await store.readFacts(scope, task.id, 0, 100)).map(({ fact }) => fact);
    const isAtWork = (fact: (typeof facts)[number]) =>
      fact.type === 'child-updated' && fact.name === 'slow' && fact.child.state === 'TASK_STATE_WORKING';
    expect(facts.some(isAtWork)).toBe(true);
    return facts.length;
  });
  const fork = await forkTask(parent, task.id, { from: length });
  await eventually(async () => expect(await statesOf(slow)).toEqual(['WORKING', 'WORKING']));
  released.resolve();
  await Promise.all([until(parent, task.id, 'COMPLETED'), until(parent, fork, 'COMPLETED')]);
  expect(await statesOf(quick)).toEqual(['COMPLETED']);
  expect(await statesOf(slow)).toEqual(['COMPLETED', 'COMPLETED']);
});
