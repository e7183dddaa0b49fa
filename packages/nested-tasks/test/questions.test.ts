import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03, v03Client } from '@batonjs/bindings-v0-3';
import { type AgentClient, answer, connect, textOf } from '@batonjs/client';
import { inputRequired as askWithForm, extend, formInput } from '@batonjs/extensions';
import { FORM_INPUT, formOf } from '@batonjs/extensions/client';
import { type Callee, nestedTasks, relayAll } from '@batonjs/nested-tasks';
import type { Task } from '@batonjs/protocol';
import {
  type Agent,
  type AgentServer,
  artifact,
  authRequired,
  completed,
  inputRequired,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../test/kit/listen.ts';
import { serveOfficial } from '../../../test/kit/official-server.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually, until } from '../../../test/kit/until.ts';
import { look, submit } from '../../server/test/callbacks/asking-agent.ts';
import { clientOf, serveParent, tasksOf } from './family.ts';

/** Asks as many questions as its first message says, then tells all answers. */
const curious: Agent = async function* ({ messages }) {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').map((message) => textOf(message));
  const [first = '', ...answers] = said;
  const [who, times] = first.split(' ');
  if (answers.length < Number(times)) return yield inputRequired(`${who} asks ${answers.length + 1}`);
  yield artifact('answers', answers.join(' '));
  yield completed(answers.join(' '));
};

const questionIn = (task: Task | undefined): string => {
  expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  return textOf(task?.status.message);
};

/** Sends a message to a task and gives the task afterwards. */
const tell = async (client: AgentClient, task: Task, text: string) =>
  (await client.send(text, { task })).task!;

describe('a question of a child', () => {
  const roads: Record<string, (child: AgentServer) => Promise<Callee>> = {
    'in this process': async (child) => child,
    'at a URL': async (child) => listen(nodeHandler(child)),
    'over HTTP+JSON': async (child) => connect(await listen(nodeHandler(child)), { binding: 'HTTP+JSON' }),
    'over gRPC': async (child) => {
      const listener = await listenGrpc(child, { port: 0 });
      onTestFinished(() => listener.close({ graceMs: 0 }));
      return connect('http://localhost', { fetch: child.fetch, bindings: [grpcClient()] });
    },
    'over A2A 0.3': async (child) => {
      const url = await listen(nodeHandler(child));
      return connect(url, { version: '0.3', compatibility: [v03Client()] });
    },
  };

  it.each(Object.entries(roads))(
    'becomes one of the parent, again and again, and each answer goes back: %s',
    async (_, road) => {
      const child = serve(curious, { compatibility: [v03()] });
      const callee = await road(child);
      const server = serveParent(async function* (turn) {
        const { task } = await turn.call(callee, 'it 2', { name: 'child' });
        yield completed(textOf(task?.artifacts?.[0]));
      });
      const client = await clientOf(server);
      const { task } = await client.send('Go');
      expect(questionIn(task)).toBe('it asks 1');
      const second = await tell(client, task!, 'one');
      expect(questionIn(second)).toBe('it asks 2');
      const ended = await tell(client, second, 'two');
      expect(textOf(ended.status.message)).toBe('one two');
      const [there, ...others] = await tasksOf(child);
      expect(others).toEqual([]);
      expect(there?.status.state).toBe('TASK_STATE_COMPLETED');
      const { message } = task!.status;
      expect(message?.referenceTaskIds).toEqual([there?.id]);
    },
  );

  it('of several that ask at once is asked one after the other, and each answer goes to the one that asked', async () => {
    const child = serve(curious);
    const server = serveParent(async function* (turn) {
      const names = ['ann', 'ben'];
      const replies = await Promise.all(names.map((name) => turn.call(child, `${name} 1`, { name })));
      yield completed(replies.map(({ task }) => textOf(task?.artifacts?.[0])).join(', '));
    });
    const client = await clientOf(server);
    let task = (await client.send('Go')).task!;
    for (let asked = 0; asked < 2; asked++) {
      const [who] = questionIn(task).split(' ');
      task = await tell(client, task, `for ${who}`);
    }
    expect(textOf(task.status.message)).toBe('for ann, for ben');
  });

  it('without words is asked in words of the parent', async () => {
    const child = serve(async function* ({ messages, text }) {
      if (messages.length === 1) yield { status: { state: 'TASK_STATE_INPUT_REQUIRED' } };
      else yield completed(`You said ${text}`);
    });
    const server = serveParent(async function* (turn) {
      const { task } = await turn.call(child, 'Go', { name: 'child' });
      yield completed(textOf(task?.status.message));
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    expect(questionIn(task)).toBe('Another agent asks for an answer');
    expect(textOf((await tell(client, task!, 'yes')).status.message)).toBe('You said yes');
  });

  it('may be answered by the agent, and only where it knows the answer', async () => {
    const child = serve(curious);
    const server = serveParent(async function* (turn) {
      const onQuestion = ({ status }: Task) =>
        textOf(status.message) === 'it asks 1' ? 'by the agent' : undefined;
      const { task } = await turn.call(child, 'it 2', { name: 'child', onQuestion });
      yield completed(textOf(task?.artifacts?.[0]));
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    expect(questionIn(task)).toBe('it asks 2');
    const ended = await tell(client, task!, 'and the user');
    expect(textOf(ended.status.message)).toBe('by the agent and the user');
  });

  it('comes with its form, and takes the values of the form', async () => {
    const form = z.object({ city: z.string() });
    const weather = extend(
      {
        card: { name: 'Weather', description: 'Asks with a form' },
        async *agent({ values }) {
          if (values.city === undefined) return yield askWithForm('Which city?', { form });
          yield completed(`Rain in ${values.city}`);
        },
      },
      formInput,
    );
    const child = serve(weather.agent, weather);
    const parent = nestedTasks({
      card: { name: 'Parent', description: 'Takes forms too' },
      async *agent(turn) {
        const { task } = await turn.call(child, 'Weather', { name: 'weather' });
        yield completed(textOf(task?.status.message));
      },
    });
    const extended = { ...parent, ...extend(parent, formInput) };
    const withForms = serve(extended.agent, { ...extended, callbacks: true, publicUrl: 'http://localhost' });
    const client = await clientOf(withForms, { extensions: [FORM_INPUT] });
    const plain = (await (await clientOf(withForms)).send('Go')).task!;
    expect(formOf(plain)).toBeUndefined();
    const { url } = await withForms.answerLink(plain.id, { answeredBy: 'Ana', expiresMs: 60_000 });
    await submit(withForms, url, await look(withForms, url), { 'field-0': 'Turku' });
    const answered = await until(withForms, plain.id, 'COMPLETED');
    expect(textOf(answered.status.message)).toBe('Rain in Turku');
    const { task } = await client.send('Go');
    expect(formOf(task!)?.schema).toMatchObject({ properties: { city: { type: 'string' } } });
    const { task: ended } = await client.send(answer(task!, { city: 'Bergen' }));
    expect(textOf(ended?.status.message)).toBe('Rain in Bergen');
  });

  it('at the official server, which has no idempotency, reaches it once', async () => {
    const { url } = await serveOfficial();
    const server = serveParent(async function* (turn) {
      const { task } = await turn.call(url, 'ask', { name: 'child' });
      yield completed(textOf(task?.artifacts?.[0]));
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    expect(questionIn(task)).toBe('Which currency?');
    const ended = await tell(client, task!, 'INR');
    expect(textOf(ended.status.message)).toBe('10 USD is 833 INR');
    const [there] = (await (await connect(url)).listTasks({ historyLength: 10 })).tasks;
    const users = there?.history
      ?.filter(({ role }) => role === 'ROLE_USER')
      .map((message) => textOf(message));
    expect(users).toEqual(['ask', 'INR']);
  });
});

describe('an authorization that a child waits for', () => {
  it('is asked for at the parent, which goes on when the child does', async () => {
    const granted = Promise.withResolvers<void>();
    const child = serve(async function* () {
      yield authRequired('Sign in at the bank');
      await granted.promise;
      yield working('Paying');
      yield completed('Paid');
    });
    const server = serveParent(async function* (turn) {
      const { task } = await turn.call(child, 'Pay', { name: 'pay' });
      yield completed(textOf(task?.status.message));
    });
    const client = await clientOf(server);
    const states: string[] = [];
    const stream = client.stream('Go');
    for await (const { statusUpdate } of stream) {
      if (!statusUpdate) continue;
      states.push(`${statusUpdate.status.state.slice(11)} ${textOf(statusUpdate.status.message)}`);
      if (states.length === 1) granted.resolve();
    }
    // The stream of a message may end while the task waits.
    if (!states.at(-1)?.startsWith('COMPLETED')) {
      const { task } = await client.follow(stream.task!).result();
      expect(textOf(task?.status.message)).toBe('Paid');
    }
    expect(states[0]).toBe('AUTH_REQUIRED Sign in at the bank');
  });

  it('is not hidden by the progress of another child', async () => {
    const [granted, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const bank = serve(async function* () {
      yield authRequired('Sign in at the bank');
      await granted.promise;
      yield working('Paying');
      yield completed('Paid');
    });
    const busy = serve(async function* () {
      await asked.promise;
      yield working('Still busy');
      yield artifact('result', 'Done');
      yield completed();
    });
    const server = serveParent(async function* (turn) {
      const paid = turn.call(bank, 'Pay', { name: 'pay' });
      const { task } = await turn.call(busy, 'Work', { name: 'work', relay: relayAll });
      expect(textOf(task?.artifacts?.[0])).toBe('Done');
      granted.resolve();
      yield completed(textOf((await paid).task?.status.message));
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go', { returnImmediately: true });
    const states: string[] = [];
    for await (const event of client.follow(task!)) {
      const status = (event.task ?? event.statusUpdate)?.status;
      if (status) states.push(`${status.state.slice(11)} ${textOf(status.message)}`);
      if (status?.state === 'TASK_STATE_AUTH_REQUIRED') asked.resolve();
    }
    expect(states.filter((state) => state !== 'SUBMITTED ')).toEqual([
      'AUTH_REQUIRED Sign in at the bank',
      'WORKING Paying',
      'COMPLETED Paid',
    ]);
  });

  it('takes the answer of the user meanwhile', async () => {
    const child = serve(async function* ({ inbox }) {
      yield authRequired('Which code?');
      const message = await inbox.take();
      yield completed(`Signed in with ${textOf(message)}`);
    });
    const server = serveParent(async function* (turn) {
      const { task } = await turn.call(child, 'Sign in', { name: 'sign-in' });
      yield completed(textOf(task?.status.message));
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go', { returnImmediately: true });
    await eventually(async () =>
      expect((await client.getTask({ id: task!.id })).status.state).toBe('TASK_STATE_AUTH_REQUIRED'),
    );
    await client.send('1234', { task: task!, returnImmediately: true });
    const { task: ended } = await client.follow(task!).result();
    expect(textOf(ended?.status.message)).toBe('Signed in with 1234');
  });

  it('of one child gets no answer to another one, which an earlier attempt took', async () => {
    const heard: string[] = [];
    const [took, never] = [Promise.withResolvers<void>(), new Promise<never>(() => {})];
    const bank = serve(async function* ({ inbox }) {
      yield authRequired('Which code?');
      heard.push(`bank ${textOf(await inbox.take())}`);
      took.resolve();
      yield completed('Paid');
    });
    const shop = serve(async function* ({ inbox }) {
      yield authRequired('Which password?');
      heard.push(`shop ${textOf(await inbox.take())}`);
      yield completed('Bought');
    });
    const store = memoryStore();
    const parent = () =>
      serveParent(
        async function* (turn) {
          await turn.call(bank, 'Pay', { name: 'pay' });
          if (turn.attempt === 1) await never;
          const { task } = await turn.call(shop, 'Buy', { name: 'buy' });
          yield completed(textOf(task?.status.message));
        },
        {},
        { store, restart: 'rerun' },
      );
    const first = parent();
    const client = await clientOf(first);
    const { task } = await client.send('Go', { returnImmediately: true });
    await eventually(async () =>
      expect((await client.getTask({ id: task!.id })).status.state).toBe('TASK_STATE_AUTH_REQUIRED'),
    );
    await client.send('1234', { task: task!, returnImmediately: true });
    await took.promise;
    await first.close({ graceMs: 0 });

    const again = await clientOf(parent());
    await eventually(async () =>
      expect(textOf((await again.getTask({ id: task!.id })).status.message)).toBe('Which password?'),
    );
    await again.send('secret', { task: task!, returnImmediately: true });
    const { task: ended } = await again.follow(task!).result();
    expect(textOf(ended?.status.message)).toBe('Bought');
    expect(heard).toEqual(['bank 1234', 'shop secret']);
  });
});
