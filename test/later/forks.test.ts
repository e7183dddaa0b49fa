import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { forkTask } from '@batonjs/operator';
import { completed, createAgentServer, failed } from '@batonjs/server';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { rpc, say } from '../kit/rpc.ts';
import { scope } from '../kit/scope.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { until } from '../kit/until.ts';
import { builtProgram } from '../support/built-program.ts';
import { stepping } from './forked-agent.ts';
import { openStore } from './open-store.ts';
import { storePlaces } from './store-places.ts';

const places = await storePlaces();

const forkThenDie = await builtProgram(new URL('./fork-then-die.ts', import.meta.url));

it.each(places.kinds)(
  'a fork survives the kill of its process, runs no step again that it took over, and leaves its origin alone: %s',
  async (kind) => {
    const journal = join(temporaryFolder(), 'journal');
    const address = places.address(kind);
    const store = closedAfterTest(openStore(address));
    const broken = createAgentServer({ ...stepping(journal, false), store });
    const { task } = await rpc(broken, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    await broken.close();
    const before = await store.readFacts(scope, task.id, 0, 100);
    await using dying = run(node, [forkThenDie, JSON.stringify(address), journal, task.id]);
    expect(await dying.ended, dying.output).toBe('SIGKILL');
    const id = /^fork (.+)$/m.exec(dying.output)![1]!;
    const next = closedAfterTest(createAgentServer({ ...stepping(journal, true), store }));
    await until(next, id, 'COMPLETED');
    expect(readFileSync(journal, 'utf8').trim().split('\n')).toEqual(['one', 'two', 'three', 'three']);
    expect(await store.readFacts(scope, task.id, 0, 100)).toEqual(before);
    const { tasks } = await store.list(scope, { limit: 9 });
    expect(tasks.map(({ taskId }) => taskId).sort()).toEqual([id, task.id].sort());
  },
);

it.each(places.kinds)('a fork of a task with many steps takes all of them over: %s', async (kind) => {
  const steps = repetitions(300, 1_000);
  const store = closedAfterTest(openStore(places.address(kind)));
  let isBroken = true;
  let runs = 0;
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Test', description: 'For tests' },
      store,
      logger: () => {},
      async *agent({ step }) {
        for (let n = 0; n < steps; n++)
          await step(`step ${n}`, () => {
            runs++;
            return 'x'.repeat(500);
          });
        yield isBroken ? failed('Broken') : completed('done');
      },
    }),
  );
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  const broken = await until(server, task.id, 'FAILED');
  expect(broken.status.message?.parts).toEqual([{ text: 'Broken' }]);
  isBroken = false;
  const fork = await forkTask(server, task.id, { from: `step ${steps - 1}` });
  await until(server, fork, 'COMPLETED');
  expect(runs).toBe(steps);
});
