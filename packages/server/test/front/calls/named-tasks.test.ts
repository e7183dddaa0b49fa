import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say, stream } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type AgentServer, reply } from '../../../src/index.ts';

const id = 'the-task';
const url = 'https://93.184.216.34/';

/** Calls that name a task, each in its own member. */
const calls: Record<string, (server: AgentServer) => Promise<unknown>> = {
  SendMessage: (server) => rpc(server, 'SendMessage', { message: say('so', { taskId: id }) }),
  SendStreamingMessage: (server) =>
    stream(server, 'SendStreamingMessage', { message: say('so', { taskId: id }) }).next(),
  GetTask: (server) => rpc(server, 'GetTask', { id }),
  CancelTask: (server) => rpc(server, 'CancelTask', { id }),
  SubscribeToTask: (server) => stream(server, 'SubscribeToTask', { id }).next(),
  CreateTaskPushNotificationConfig: (server) =>
    rpc(server, 'CreateTaskPushNotificationConfig', { taskId: id, id: 'the-webhook', url }),
  GetTaskPushNotificationConfig: (server) =>
    rpc(server, 'GetTaskPushNotificationConfig', { taskId: id, id: 'the-webhook' }),
  ListTaskPushNotificationConfigs: (server) => rpc(server, 'ListTaskPushNotificationConfigs', { taskId: id }),
  DeleteTaskPushNotificationConfig: (server) =>
    rpc(server, 'DeleteTaskPushNotificationConfig', { taskId: id, id: 'the-webhook' }),
};

it.each(Object.entries(calls))(
  'a %s that fails is logged with its operation and its task',
  async (operation, call) => {
    const lines: unknown[][] = [];
    const fail = () => () => Promise.reject(new Error('secret'));
    const store = change(memoryStore(), { load: fail, getPushConfig: fail });
    const server = serve(() => reply('Hi'), { store, push: {}, logger: (...line) => lines.push(line) });
    await expect(call(server)).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
    expect(lines.filter(([, message]) => message === 'A request failed')).toEqual([
      [
        'error',
        'A request failed',
        {
          requestId: expect.any(String),
          operation,
          taskId: id,
          err: expect.objectContaining({ message: 'secret' }),
        },
      ],
    ]);
  },
);

it.each([7, null, {}, ['a'], true])('a tenant that is no text is refused, or none: %j', async (tenant) => {
  const server = serve(() => reply('Hi'));
  const answer = rpc(server, 'ListTasks', { tenant });
  if (tenant === null) expect((await answer).tasks).toEqual([]);
  else await expect(answer).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
});
