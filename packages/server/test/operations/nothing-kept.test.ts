import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type Agent, type AgentServer, completed, inputRequired, reply } from '../../src/index.ts';

/** Asks at first. Answers "hi" with a message. */
const ask: Agent = ({ text, messages }) =>
  text === 'hi'
    ? reply('Hello')
    : (async function* () {
        yield messages.length === 1 ? inputRequired('Well?') : completed();
      })();

const missing = { taskId: 'none' };

/** Calls of a task that waits for an answer. Some are refused. */
const calls: Record<string, (server: AgentServer, id: string) => Promise<unknown>> = {
  'a message that is answered': (server) => rpc(server, 'SendMessage', { message: say('hi') }),
  'an answer': (server, taskId) => rpc(server, 'SendMessage', { message: say('so', { taskId }) }),
  'an answer that is sent twice': async (server, taskId) => {
    const message = say('so', { taskId });
    await rpc(server, 'SendMessage', { message });
    await rpc(server, 'SendMessage', { message });
  },
  'a message to no task': (server) => rpc(server, 'SendMessage', { message: say('so', missing) }),
  'a message to a task of another context': (server, taskId) =>
    rpc(server, 'SendMessage', { message: say('so', { taskId, contextId: 'other' }) }),
  'a stream': (server) => collect(stream(server, 'SendStreamingMessage', { message: say('go') })),
  'a stream of an answer': (server, taskId) =>
    collect(stream(server, 'SendStreamingMessage', { message: say('so', { taskId }) })),
  'a stream that is refused': (server, taskId) =>
    collect(stream(server, 'SendStreamingMessage', { message: say('so', { taskId, contextId: 'other' }) })),
  GetTask: (server, id) => rpc(server, 'GetTask', { id }),
  ListTasks: (server) => rpc(server, 'ListTasks', { historyLength: 1 }),
  CancelTask: (server, id) => rpc(server, 'CancelTask', { id }),
  'CancelTask twice': async (server, id) => {
    await rpc(server, 'CancelTask', { id });
    await rpc(server, 'CancelTask', { id });
  },
  'CancelTask of no task': (server) => rpc(server, 'CancelTask', { id: 'none' }),
  'SubscribeToTask of a task that has ended': async (server, id) => {
    await rpc(server, 'CancelTask', { id });
    await collect(stream(server, 'SubscribeToTask', { id }));
  },
  'SubscribeToTask of no task': (server) => collect(stream(server, 'SubscribeToTask', { id: 'none' })),
  'a webhook': (server, taskId) =>
    rpc(server, 'CreateTaskPushNotificationConfig', { taskId, url: 'https://93.184.216.34/' }),
};

it.each(Object.entries(calls))('after %s the server holds no task and no subscription', async (_, call) => {
  const memory = memoryStore();
  let subscriptions = 0;
  const store = change(memory, {
    subscribe: (subscribe) => async (topic, notify) => {
      const unsubscribe = await subscribe(topic, notify);
      if (!('taskId' in topic)) return unsubscribe;
      subscriptions += 1;
      return async () => {
        subscriptions -= 1;
        await unsubscribe();
      };
    },
  });
  const server = serve(ask, { store });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  await call(server, task.id).catch((error: { reason?: string }) => expect(error.reason).toBeDefined());
  await eventually(() => expect([server.load, subscriptions]).toEqual([{ turns: 0, tasks: 0 }, 0]));
});
