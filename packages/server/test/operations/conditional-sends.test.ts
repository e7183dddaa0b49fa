import { GENERATION } from '@batonjs/protocol/headers';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import {
  type Agent,
  type AgentServer,
  completed,
  inputRequired,
  taskAgent,
  working,
} from '../../src/index.ts';

const active = { 'a2a-extensions': GENERATION };
const preview = ['1.1'] as const;
const now = { returnImmediately: true };

type UpdatesOf = Parameters<typeof taskAgent>[0];

const ask: UpdatesOf = async function* () {
  yield inputRequired('Well?');
};

it.each([1, 2])(
  'a message with a condition that comes twice, by %i servers, is received once',
  async (count) => {
    const store = memoryStore();
    const servers = Array.from({ length: count }, () => serve(ask, { store, compatibility: preview }));
    const { task } = await rpc(servers[0]!, 'SendMessage', { message: say('go') }, active);
    const message = say('so', { taskId: task.id });
    const configuration = { ifGenerationMatch: task.generation };
    const answers = await Promise.all(
      [0, 1].map((n) => rpc(servers[n % count]!, 'SendMessage', { message, configuration }, active)),
    );
    for (const answer of answers) expect(answer.task.id).toBe(task.id);
    const { history } = await rpc(servers[0]!, 'GetTask', { id: task.id });
    const said = (history as { messageId: string }[]).filter((one) => one.messageId === message.messageId);
    expect(said).toHaveLength(1);
  },
);

it('a question has no deadline any more once it is answered in time, with a condition and without', async () => {
  const store = memoryStore();
  const clocks = { totalMs: 86_400_000, interruptedMs: 3_600_000 };
  const server = serve(ask, { store, compatibility: preview, timeouts: { ...clocks } });
  const front = serve(ask, { store, compatibility: preview, timeouts: { ...clocks }, run: 'workers' });
  await server.ready();
  const { task } = await rpc(server, 'SendMessage', { message: say('go') }, active);
  await server.close();
  const due = async () => (await store.load(scope, task.id))?.head.dueAt;
  const before = await due();
  expect(before).toBe(new Date(Date.parse(task.status.timestamp) + clocks.interruptedMs).toISOString());
  const answer = (more: object) =>
    rpc(
      front,
      'SendMessage',
      {
        message: say('so', { taskId: task.id }),
        configuration: { ...now, ...more },
      },
      active,
    );
  await answer({ ifGenerationMatch: task.generation });
  expect(await due()).toBeUndefined();
  await answer({});
  expect(await due()).toBeUndefined();
});

it('a canceled task is given to the next process before others of its caller', async () => {
  const memory = memoryStore();
  const ahead: (number | undefined)[] = [];
  const store = change(memory, {
    commit: (commit) => (one) => {
      ahead.push(one.turn?.aheadMs);
      return commit(one);
    },
  });
  const server = serve(ask, { store, queue: {}, run: 'workers', timeouts: { cancelMs: 1 } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
  await rpc(server, 'CancelTask', { id: task.id });
  expect(ahead.at(-1)).toBe(9 * 60_000);
});

/** Agents whose task is made with the message, and when the agent reports something. */
const times: [string, (agent: UpdatesOf) => Agent, generations: string[]][] = [
  ['with its message', (agent) => taskAgent(agent), ['1', '2', '3']],
  ['by its agent', (agent) => async (turn) => agent(turn), ['2', '3']],
];

it.each(times)(
  'events of a task that is made %s carry a generation only where that was asked for',
  async (_, made, expected) => {
    const agent = made(async function* () {
      yield working('on it');
      yield completed();
    });
    const server = serve(agent, { compatibility: preview });
    const generations = async (headers: Record<string, string>) => {
      const events = await collected(server, {}, headers);
      return events.map((event) => (Object.values(event)[0] as { generation?: string }).generation);
    };
    expect(await generations(active)).toEqual(expected);
    expect(await generations({})).toEqual(expected.map(() => undefined));
  },
);

it.each(times)(
  'a stream of a task that is made %s begins with as much history as was asked for',
  async (_, made) => {
    const server = serve(made(ask));
    for (const [historyLength, history] of [
      [undefined, ['go']],
      [0, undefined],
    ] as const) {
      const [first] = await collected(server, { historyLength });
      const { task } = first as { task: { history?: { parts: { text: string }[] }[] } };
      expect(task.history?.map(({ parts }) => parts[0]?.text)).toEqual(history);
    }
  },
);

async function collected(server: AgentServer, configuration: object, headers: Record<string, string> = {}) {
  const events: unknown[] = [];
  const params = { message: say('go'), configuration };
  for await (const { event } of stream(server, 'SendStreamingMessage', params, headers)) events.push(event);
  return events as object[];
}
