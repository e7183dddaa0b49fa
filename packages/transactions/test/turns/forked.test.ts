import { forkTask } from '@batonjs/operator';
import { completed, type Turn } from '@batonjs/server';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { sqliteFile } from '../sqlite-file.ts';

it('a fork runs a transaction of its own, unless it takes over the result', async () => {
  const file = sqliteFile();
  const server = serve(async function* ({ transaction, taskId }: Turn) {
    const { id } = await transaction('pay', file.database, (tx) => {
      tx.prepare('insert into effects values (?)').run(taskId);
      return { id: taskId };
    });
    yield completed(`Paid for ${id}`);
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  const reused = await until(server, await forkTask(server, task.id, { from: 'pay' }), 'COMPLETED');
  expect(reused.status.message?.parts).toEqual([{ text: `Paid for ${task.id}` }]);
  const again = await until(server, await forkTask(server, task.id), 'COMPLETED');
  expect(again.status.message?.parts).toEqual([{ text: `Paid for ${again.id}` }]);
  expect(new Set(file.column('select id from effects'))).toEqual(new Set([task.id, again.id]));
});
