import { completed, failed } from '@batonjs/server';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scopeOf } from '../../../test/kit/scope.ts';
import { until } from '../../../test/kit/until.ts';
import { cli } from './cli.ts';
import { usedStore } from './used-store.ts';

it('forks a task of a store, which a server runs then', async () => {
  const calls: string[] = [];
  let isFixed = false;
  const { file, store, server } = usedStore({
    agent: async function* ({ step, text }) {
      await step('pay', () => void calls.push(text));
      yield isFixed ? completed(text) : failed('Broken');
    },
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('tea') });
  isFixed = true;
  const fork = async (args: string) => {
    const ran = await cli(`tasks --store ${file} --agent used fork ${args} -o json`);
    expect(ran).toMatchObject({ code: 0, json: { from: task.id } });
    return until(server, ran.json.taskId, 'COMPLETED');
  };
  const { id } = await fork(`${task.id} --from pay --by ada --set-label eu --set-label again`);
  expect(calls).toEqual(['tea']);
  const [first] = await store.readFacts(scopeOf('used'), id, 0, 1);
  expect(first?.fact).toMatchObject({ forked: { by: 'ada' }, labels: ['eu', 'again'] });
  const other = await fork(`${task.id} --message coffee`);
  expect(other.status.message?.parts).toEqual([{ text: 'coffee' }]);
  const [begun] = await store.readFacts(scopeOf('used'), other.id, 0, 1);
  expect(begun?.fact).toMatchObject({ forked: { position: 1, by: expect.stringMatching(/^operator/) } });
  await fork(`${task.id} --from 3`);
  expect(calls).toEqual(['tea', 'coffee', 'tea']);
  const unknown = await cli(`tasks --store ${file} --agent used fork none`);
  expect([unknown.code === 0, unknown.stderr]).toEqual([false, expect.stringContaining('Task not found')]);
  const wrong = await cli(`tasks --store ${file} --agent used fork ${task.id} --from fly`);
  expect([wrong.code === 0, wrong.stderr]).toEqual([false, expect.stringContaining('no step "fly"')]);
});
