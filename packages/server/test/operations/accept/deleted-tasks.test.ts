import { eraseTasks } from '@batonjs/operator';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { completed } from '../../../src/index.ts';

const stores = {
  memory: () => memoryStore({ closedBytes: 1 }),
  SQLite: () => sqliteStore(':memory:'),
};

describe.each(Object.entries(stores))('a message that is sent again, with %s', (_, open) => {
  const serveCounting = () => {
    const runs: string[] = [];
    const server = serve(
      async function* ({ text }) {
        runs.push(text);
        yield completed();
      },
      { store: closedAfterTest(open()), idempotency: true },
    );
    const send = (message: object) => rpc(server, 'SendMessage', { message });
    return { server, runs, send };
  };

  it('does not run the work again after its task was pruned, erased or made room for others', async () => {
    const { server, runs, send } = serveCounting();
    const [pruned, erased] = [say('pruned'), say('erased')];
    for (const message of [pruned, erased]) {
      const { task } = await send(message);
      if (message === erased) await eraseTasks(server, { taskId: task.id });
    }
    await server.prune({ closedBefore: Date.now() + 60_000 });
    for (const message of [pruned, erased])
      await expect(send(message)).rejects.toMatchObject({
        reason: 'TASK_NOT_FOUND',
        message: 'The message was received before, and its task was deleted',
      });
    expect(runs).toEqual(['pruned', 'erased']);
  });

  it('runs the work anew after all of its caller was erased', async () => {
    const { server, runs, send } = serveCounting();
    const message = say('work');
    await send(message);
    await server.prune({ closedBefore: Date.now() + 60_000 });
    await eraseTasks(server, {});
    expect((await send(message)).task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(runs).toEqual(['work', 'work']);
  });
});
