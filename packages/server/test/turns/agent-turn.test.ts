import { SCHEDULING } from '@batonjs/protocol/headers';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import {
  append,
  artifact,
  completed,
  createAgentServer,
  inputRequired,
  reply,
  type Turn,
  taskAgent,
} from '../../src/index.ts';

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
  'an agent sees all messages of its task, and the task as clients do, with the question in its history: %s',
  async (currentStatusInHistory) => {
    const seen: unknown[] = [];
    const said = (messages: readonly { parts: readonly object[] }[] | undefined) =>
      messages?.map(({ parts }) => (parts[0] as { text: string }).text);
    const agent = taskAgent(async function* ({ messages, task }) {
      seen.push([said(messages), said(task?.history)]);
      yield messages.length === 1 ? inputRequired('Well?') : completed();
    });
    const server = serve(agent, { currentStatusInHistory });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    await rpc(server, 'SendMessage', { message: say('so', { taskId: task.id }) });
    expect(seen).toEqual([
      [['go'], ['go']],
      [
        ['go', 'Well?', 'so'],
        ['go', 'Well?', 'so'],
      ],
    ]);
    const question = await rpc(server, 'SendMessage', { message: say('go') });
    expect(said(question.task.history)).toEqual(currentStatusInHistory ? ['go', 'Well?'] : ['go']);
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
