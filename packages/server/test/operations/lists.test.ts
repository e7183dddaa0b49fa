import { GENERATION, TASK_TREE } from '@batonjs/protocol/headers';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { completed, working } from '../../src/index.ts';

const agent = async function* () {
  yield completed('Done');
};
const configuration = { returnImmediately: true };
const content = { includeArtifacts: true };

/** A task that no process works on. */
async function submitted() {
  const store = memoryStore();
  const server = serve(agent, { store, run: 'workers', compatibility: ['1.1'] });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
  return { store, task };
}

it('a list shows a task that nobody has begun as it was submitted', async () => {
  const { store, task } = await submitted();
  const { tasks } = await rpc(serve(agent, { store, run: 'workers' }), 'ListTasks', {});
  const { id, contextId, status } = task;
  expect(status.state).toBe('TASK_STATE_SUBMITTED');
  expect(tasks).toEqual([{ id, contextId, status }]);
});

it('only what a list has to show of the logs is read of them', async () => {
  const { store, task } = await submitted();
  let loads = 0;
  const counted = change(store, {
    load: (load) => (scope, id) => {
      loads += 1;
      return load(scope, id);
    },
  });
  const card = { name: 'Test', description: 'For tests', capabilities: { extensions: [{ uri: TASK_TREE }] } };
  const server = serve(agent, { card, store: counted, run: 'workers', compatibility: ['1.1'] });
  const listed = async (params: object, headers = {}) => {
    loads = 0;
    const { tasks } = await rpc(server, 'ListTasks', params, headers);
    return [loads, tasks[0]];
  };
  const { id, contextId, status } = task;
  const bare = { id, contextId, status };
  expect(await listed({})).toEqual([0, bare]);
  expect(await listed({}, { 'a2a-extensions': GENERATION })).toEqual([1, { ...bare, generation: '1' }]);
  expect(await listed(content)).toEqual([1, { ...bare, artifacts: [] }]);
  expect(await listed({ historyLength: 1 })).toMatchObject([
    1,
    { ...bare, history: [{ parts: [{ text: 'go' }] }] },
  ]);
  const tree = await listed({}, { 'a2a-extensions': TASK_TREE });
  expect(tree).toEqual([1, { ...bare, metadata: { [TASK_TREE]: { children: [] } } }]);
});

it('a message that begins a task asks for no lists where tasks are not limited', async () => {
  let lists = 0;
  const store = change(memoryStore(), {
    list: (list) => (scope, query) => {
      lists += 1;
      return list(scope, query);
    },
  });
  const authenticate = () => ({ scope: 'ann' });
  for (const [callers, expected] of [
    [undefined, 0],
    [{ unfinishedTasks: 9 }, 4],
  ] as const) {
    lists = 0;
    const server = serve(agent, {
      store,
      authenticate,
      ...(callers && { limits: { callers } }),
    });
    await rpc(server, 'SendMessage', { message: say('go') });
    expect(lists).toBe(expected);
  }
});

it('a list is refused while the store does not answer, and not made of empty tasks', async () => {
  const { store } = await submitted();
  const down = change(store, { load: () => () => Promise.reject(unavailable()) });
  const logged: string[] = [];
  const logger = (_: string, message: string) => logged.push(message);
  const server = serve(agent, { store: down, run: 'workers', logger });
  await expect(rpc(server, 'ListTasks', content)).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  expect(logged).not.toContain('A task cannot be read and is listed without its content');
  expect((await rpc(server, 'ListTasks', {})).tasks).toHaveLength(1);
});

it('a task that cannot be read is listed with its state and time, and said so in the log', async () => {
  const { store, task } = await submitted();
  const damaged = change(store, { load: () => () => Promise.reject(new Error('damaged')) });
  const logged: unknown[] = [];
  const logger = (...line: unknown[]) => logged.push(line);
  const server = serve(agent, { store: damaged, run: 'workers', logger });
  const { id, contextId, status } = task;
  expect((await rpc(server, 'ListTasks', content)).tasks).toEqual([{ id, contextId, status }]);
  expect(logged).toContainEqual([
    'error',
    'A task cannot be read and is listed without its content',
    expect.objectContaining({
      taskId: id,
      requestId: expect.any(String),
      err: expect.objectContaining({ message: 'damaged' }),
    }),
  ]);
});

it.each(['TASK_STATE_OF_A_NEWER_RELEASE', 'toString', undefined])(
  'a task in a state that this release does not know is listed without it: %s',
  async (state) => {
    const { store, task } = await submitted();
    const newer = change(store, {
      list: (list) => async (scope, query) => {
        const page = await list(scope, query);
        const tasks = page.tasks.map((one) => ({ ...one, head: { ...one.head, state: state as never } }));
        return { ...page, tasks };
      },
    });
    const { tasks } = await rpc(serve(agent, { store: newer, run: 'workers' }), 'ListTasks', {});
    const { timestamp } = task.status;
    expect(tasks).toMatchObject([{ id: task.id, status: { state: 'TASK_STATE_UNSPECIFIED', timestamp } }]);
  },
);

it('a list has at most the newest 1,000 messages of a task, however many are asked for', async () => {
  const server = serve(async function* () {
    for (let n = 0; n < 1_010; n += 1) yield working(String(n));
    yield completed();
  });
  await rpc(server, 'SendMessage', { message: say('go') });
  const { tasks } = await rpc(server, 'ListTasks', { historyLength: 1e9 });
  const said = tasks[0].history.map(({ parts }: { parts: [{ text: string }] }) => parts[0].text);
  expect([said.length, said[0], said.at(-1)]).toEqual([1_000, '10', '1009']);
});
