import { join } from 'node:path';
import { completed, createAgentServer, failed } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scopeOf } from '../../../test/kit/scope.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { until } from '../../../test/kit/until.ts';
import { cli } from './cli.ts';

it('forks a task of a store, which a server runs then', async () => {
  const file = join(temporaryFolder(), 'tasks.db');
  const store = sqliteStore(file);
  onTestFinished(() => store.close());
  const calls: string[] = [];
  let isFixed = false;
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Used', description: 'Is used' },
      name: 'used',
      store,
      logger: () => {},
      agent: async function* ({ step, text }) {
        await step('pay', () => void calls.push(text));
        yield isFixed ? completed(text) : failed('Broken');
      },
    }),
  );
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
