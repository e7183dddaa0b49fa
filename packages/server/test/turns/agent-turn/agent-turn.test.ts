import { SCHEDULING } from '@batonjs/protocol/headers';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually } from '../../../../../test/kit/until.ts';
import {
  append,
  artifact,
  completed,
  createAgentServer,
  inputRequired,
  reply,
  type Turn,
  taskAgent,
  working,
} from '../../../src/index.ts';
import { turnStart } from '../../../src/turns/agent-turn.ts';

/** What an agent makes of the turn that "Hello" gives it. */
async function turnOf(text: (turn: Turn) => string): Promise<string> {
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    agent: (turn) => reply(text(turn)),
  });
  const { message } = await rpc(server, 'SendMessage', { message: say('Hello') });
  await server.close();
  return message.parts[0].text;
}

it('a turn may be the prototype of one that has more', async () => {
  const text = await turnOf((turn) => {
    const more: Turn & { mood: string } = Object.create(turn, { mood: { value: 'glad' } });
    const { message, messages, mood, signal, taskId } = more;
    expect(message).toBe(turn.message);
    expect(messages).toBe(turn.messages);
    return [more.text, mood, signal.aborted, taskId === turn.taskId].join(' ');
  });
  expect(text).toBe('Hello glad false true');
});

it('what an agent does to the message of its turn changes nothing else', async () => {
  const text = await turnOf(({ message, messages }) => {
    message.parts[0] = { text: 'changed' };
    return JSON.stringify(messages[0]?.parts);
  });
  expect(text).toBe('[{"text":"Hello"}]');
});

it('a transaction is named by the message of its turn, too: after lost facts, another one may have the number', async () => {
  const named: string[] = [];
  const bank = { once: async ({ turn }: { readonly turn: string }) => void named.push(turn) };
  const server = serve(async function* ({ transaction }) {
    yield completed(String(await transaction('pay', bank, () => 1)));
  });
  const messages = [say('one'), say('two')];
  for (const message of messages) await rpc(server, 'SendMessage', { message });
  expect(named).toEqual(messages.map(({ messageId }) => `1 ${messageId}`));
});

it('a turn that is written down shows nothing of the server', async () => {
  const text = await turnOf((turn) => JSON.stringify(turn));
  expect(Object.keys(JSON.parse(text)).sort()).toEqual(['attempt', 'contextId', 'fence', 'taskId']);
});

it('an agent that never waits does not keep the process to itself', async () => {
  let hasTurned = false;
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    async *agent() {
      setImmediate(() => {
        hasTurned = true;
      });
      yield artifact('dots', '.');
      for (let n = 0; n < 50_000 && !hasTurned; n++) yield append('dots', '.');
      yield completed(hasTurned ? 'The event loop turned' : 'The event loop was blocked');
    },
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('Hello') });
  await server.close();
  expect(task.status.message.parts[0].text).toBe('The event loop turned');
});

it.each([true, false])(
  'an agent sees all messages of its task, and the task as clients do, with what it said last in its history: %s',
  async (currentStatusInHistory) => {
    const seen: unknown[] = [];
    const said = (messages: readonly { parts: readonly object[] }[] | undefined) =>
      messages?.map(({ parts }) => (parts[0] as { text: string }).text);
    const agent = taskAgent(async function* (turn) {
      const { messages, wakeAt } = turn;
      seen.push([said(messages), said(turn.task?.history)]);
      if (messages.length > 1) return yield completed();
      yield working('Wait');
      seen.push(said(turn.task?.history));
      await wakeAt(Date.UTC(2100, 0, 1));
    });
    const server = serve(agent, { messages: { currentStatusInHistory } });
    const configuration = { returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    await eventually(() => expect([seen.length, server.load.turns]).toEqual([2, 0]));
    await rpc(server, 'SendMessage', { message: say('so', { taskId: task.id }) });
    const now = currentStatusInHistory ? ['go', 'Wait'] : ['go'];
    expect(seen.slice(0, 2)).toEqual([[['go'], ['go']], now]);
    expect((seen[2] as unknown[])[0]).toEqual(['go', 'Wait', 'so']);
  },
);

it('an agent learns of the extensions and the modes of its message, and of nothing where there are none', async () => {
  const seen: unknown[] = [];
  const card = {
    name: 'Test',
    description: 'For tests',
    capabilities: { extensions: [{ uri: SCHEDULING }] },
  };
  const server = serve(
    ({ extensions, acceptedOutputModes, metadata, caller }) => {
      seen.push({ extensions, acceptedOutputModes, metadata, caller });
      return reply('Hi');
    },
    { card },
  );
  const params = {
    message: say('go'),
    configuration: { acceptedOutputModes: ['text/plain'] },
    metadata: { a: 1 },
  };
  await rpc(server, 'SendMessage', params, { 'a2a-extensions': SCHEDULING });
  await rpc(server, 'SendMessage', { message: say('go') });
  expect(seen).toEqual([
    { extensions: [SCHEDULING], acceptedOutputModes: ['text/plain'], metadata: { a: 1 }, caller: {} },
    { extensions: [], acceptedOutputModes: [], metadata: {}, caller: {} },
  ]);
});

it('an agent learns which time a message took the place of, if there was one', async () => {
  const seen: unknown[] = [];
  const at = Date.UTC(2100, 0, 1);
  const agent = taskAgent(async function* ({ messages, replacedWake, wakeAt }) {
    seen.push(replacedWake);
    if (messages.length === 1) await wakeAt(at);
    yield messages.length < 5 ? inputRequired('Well?') : completed();
  });
  const server = serve(agent);
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  for (const text of ['so', 'and so']) {
    await rpc(server, 'SendMessage', { message: say(text, { taskId: task.id }) });
  }
  expect(seen).toEqual([undefined, new Date(at), undefined]);
});

it('a turn is not part of the request whose message the turn before had', () => {
  const task = {
    live: { taskId: 't' },
    state: {
      contextId: 'c',
      openTurn: { number: 2, attempt: 1, messageIds: [] },
      taken: [{ message: say('go', { messageId: 'm' }) }],
      pending: [],
    },
  } as unknown as Parameters<typeof turnStart>[0];
  const begin = { arriving: 'm', isTimed: false } as Parameters<typeof turnStart>[1];
  const options = { isWorker: false } as Parameters<typeof turnStart>[2];
  expect(turnStart(task, begin, options, 0)).toMatchObject({ cause: 'woken', isImmediate: false });
});

it('what an agent throws is logged with its task and its request, and without one in a turn that none began', async () => {
  const lines: unknown[][] = [];
  const error = new Error('x');
  const agent = taskAgent(async function* ({ messages }) {
    if (messages.length > 1) throw error;
    yield inputRequired('Well?');
  });
  const server = serve(agent, { logger: (...line) => lines.push(line) });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  await rpc(server, 'SendMessage', { message: say('so', { taskId: task.id }) });
  const failing = serve(
    () => {
      throw error;
    },
    { logger: (...line) => lines.push(line) },
  );
  await rpc(failing, 'SendMessage', { message: say('go') }, { 'x-request-id': 'req-7' });
  expect(lines).toEqual([
    ['error', 'An agent failed', { taskId: task.id, err: error }],
    ['error', 'An agent failed', { taskId: expect.any(String), requestId: 'req-7', err: error }],
  ]);
});

it('a turn whose end cannot be stored is logged, and not called lost', async () => {
  const lines: unknown[][] = [];
  const events: string[] = [];
  let isBroken = false;
  const store = change(memoryStore(), {
    commit: (commit) => async (one) => {
      if (isBroken) throw new Error('broken');
      return commit(one);
    },
  });
  const agent = taskAgent(async function* () {
    isBroken = true;
    yield completed();
  });
  const server = serve(agent, {
    ...{
      store,
      logger: (...line) => lines.push(line),
      onEvent: ({ type }) => type !== 'transition' && events.push(type),
    },
  });
  await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } });
  await eventually(() => expect(server.load.turns).toBe(0));
  expect(lines.map(([, message]) => message)).toEqual(['A turn could not be recorded']);
  expect(events).toEqual([]);
});

it('the telemetry of a turn that answers with a message ends without a state, and without an error', async () => {
  const ends: unknown[] = [];
  const lines: unknown[] = [];
  const span = { run: <T>(fn: () => T) => fn(), end: (end: object) => ends.push(end) };
  const telemetry = { turn: () => span, transition() {}, turnEvent() {} };
  const request = () => ({ ...span, end() {}, received() {}, streams() {}, saw() {} });
  const server = serve(() => reply('Hi'), {
    ...{ telemetry: { ...telemetry, request } as never, logger: (...line) => lines.push(line) },
  });
  await rpc(server, 'SendMessage', { message: say('go') });
  await eventually(() => expect(ends).toEqual([{ state: undefined, halted: undefined, error: undefined }]));
  expect(lines).toEqual([]);
});
