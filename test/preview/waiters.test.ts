import { GENERATION } from '@batonjs/protocol/headers';
import { completed, working } from '@batonjs/server';
import { expect, it } from 'vitest';
import { insideOf } from '../../packages/server/src/operations/call/inside-of.ts';
import { repetitions } from '../kit/repetitions.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { eventually } from '../kit/until.ts';

const active = { 'a2a-extensions': GENERATION };

const many = repetitions(2_000, 10_000);

it(`${many} long polls on one process wait, and all return on the change [R-P11-35]`, {
  timeout: 300_000,
}, async () => {
  const gate = Promise.withResolvers<void>();
  const server = serve(
    async function* () {
      yield working();
      await gate.promise;
      yield completed();
    },
    { compatibility: ['1.1'], timeouts: { generationMs: 110_000 }, limits: { followersPerTask: many } },
  );
  const configuration = { returnImmediately: true };
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration }, active);
  const { id } = task;
  await rpc(server, 'GetTask', { id, currentGeneration: 1 }, active);
  const polls = Array.from({ length: many }, () =>
    rpc(server, 'GetTask', { id, currentGeneration: 2, historyLength: 0 }, active),
  );
  // One more than may follow a task: the others have begun to wait.
  await eventually(() =>
    expect(rpc(server, 'GetTask', { id, currentGeneration: 2 }, active)).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
    }),
  );
  gate.resolve();
  const answers = await Promise.all(polls);
  expect(new Set(answers.map(({ generation }) => generation))).toEqual(new Set(['3']));
  // A task that has ended, and for which no call waits, is in use no more.
  await eventually(() => expect(insideOf(server)!.dependencies.tasks.size).toBe(0));
});
