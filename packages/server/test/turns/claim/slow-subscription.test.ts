import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, completed } from '../../../src/index.ts';

const agent: Agent = async function* () {
  yield completed();
};

it('a claimed turn begins while the store still subscribes to its task', async () => {
  const memory = memoryStore();
  const subscribing = Promise.withResolvers<() => Promise<void>>();
  const store = change(memory, {
    subscribe: (subscribe) => (topic, notify) =>
      'queue' in topic ? subscribe(topic, notify) : subscribing.promise,
  });
  serve(agent, { store, timeouts: { storeMs: 600_000 } });
  const front = serve(agent, { store: memory, run: 'workers' });
  const { task } = await rpc(front, 'SendMessage', { message: say('go') });
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  subscribing.resolve(async () => {});
});
