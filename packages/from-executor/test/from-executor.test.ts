import { AgentCard, Message, Role, SendMessageRequest, Task, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { connect, textOf } from '@batonjs/client';
import { type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fromExecutor } from '../src/index.ts';
import { asked, essayist, executor, publisher, says, text } from './executors.ts';

function serve(agent: AgentServerOptions['agent'], options: Partial<AgentServerOptions> = {}) {
  const server = createAgentServer({
    card: { name: 'Migrated', description: 'Was written for another server', defaultInputModes: ['*/*'] },
    store: memoryStore(),
    logger: () => {},
    agent,
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}
const client = (server: ReturnType<typeof serve>) => connect('http://localhost', { fetch: server.fetch });
const brief = (event: object) => {
  const { task, statusUpdate, artifactUpdate } = event as Record<string, never> as {
    task?: { status: { state: string } };
    statusUpdate?: { status: { state: string } };
    artifactUpdate?: { artifact: object; append?: boolean; lastChunk?: boolean };
  };
  const update =
    artifactUpdate && `${textOf(artifactUpdate.artifact as never)}${artifactUpdate.append ? '+' : ''}`;
  return update ?? (task ?? statusUpdate)?.status.state.replace('TASK_STATE_', '');
};

describe('an executor of the official SDK', () => {
  it('answers with a message', async () => {
    const hello = executor(async ({ contextId, taskId }, bus) => {
      bus.publish(AgentEvent.message(says({ contextId, taskId }, text('Hello, world!'))));
      bus.finished();
    });
    const { message } = await (await client(serve(fromExecutor(hello)))).send('Hi');
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'Hello, world!' }] });
  });

  it('works on a task; appending to a missing artifact creates it', async () => {
    const agent = await client(serve(fromExecutor(essayist)));
    const stream = agent.stream('Write');
    const events: unknown[] = [];
    for await (const event of stream) events.push(brief(event));
    expect(events).toEqual(['SUBMITTED', 'WORKING', 'once ', 'upon +', 'a time+', 'COMPLETED']);
    expect(stream.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'Done' }] } },
      artifacts: [
        {
          artifactId: 'essay',
          name: 'essay',
          parts: [{ text: 'once ' }, { text: 'upon ' }, { text: 'a time' }],
        },
      ],
    });
  });

  it('makes the same task here as on the server it was written for', async () => {
    const sdkCard = AgentCard.fromJSON({
      name: 'x',
      description: '',
      version: '1',
      capabilities: {},
      skills: [],
      defaultInputModes: [],
      defaultOutputModes: [],
      supportedInterfaces: [],
    });
    const handler = new DefaultRequestHandler(sdkCard, new InMemoryTaskStore(), essayist);
    const request = SendMessageRequest.fromJSON({
      message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Write' }] },
    });
    const theirs = Task.toJSON((await handler.sendMessage(request, new ServerCallContext())) as Task) as Task;
    const { task: ours } = await (await client(serve(fromExecutor(essayist)))).send('Write');
    const comparable = ({ status, artifacts }: object & Partial<typeof ours>) => [
      status?.state,
      textOf(status?.message),
      artifacts?.map((artifact) => [artifact.artifactId, artifact.name, textOf(artifact)]),
    ];
    expect(comparable(ours!)).toEqual(comparable(theirs as never));
  });

  it('asks, and finds its task in the request that answers', async () => {
    const contexts: RequestContext[] = [];
    const travel = executor(async (context, bus) => {
      contexts.push(context);
      const { task, status } = publisher(context, bus);
      task();
      if (!context.task) status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Where to?');
      else status(TaskState.TASK_STATE_COMPLETED, `To ${asked(context)}`);
      bus.finished();
    });
    const agent = await client(serve(fromExecutor(travel)));
    const { task: first } = await agent.send('Book a flight');
    expect(first?.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Where to?' }] },
    });
    const { task } = await agent.send('Helsinki', { task: first! });
    expect([task?.id, textOf(task?.status.message)]).toEqual([first?.id, 'To Helsinki']);
    const [, second] = contexts;
    expect(second?.userMessage).toMatchObject({
      role: Role.ROLE_USER,
      taskId: first?.id,
      contextId: first?.contextId,
    });
    expect(second?.task).toMatchObject({ id: first?.id, status: { state: TaskState.TASK_STATE_WORKING } });
    expect(second?.task?.history.map((message) => (Message.toJSON(message) as Message).role)).toEqual([
      'ROLE_USER',
      'ROLE_AGENT',
      'ROLE_USER',
    ]);
  });

  it('is given the whole request, in the SDK’s own objects', async () => {
    let given: RequestContext | undefined;
    const listener = executor(async (context, bus) => {
      given = context;
      context.context.addActivatedExtension('urn:x');
      expect(context.context.activatedExtensions).toEqual(['urn:x']);
      const { task, status, chunk } = publisher(context, bus);
      task();
      chunk('copy', context.userMessage.parts);
      status(TaskState.TASK_STATE_COMPLETED);
      bus.finished();
    });
    const authenticate = () => ({ scope: 'ada', claims: { sub: 'ada', team: 'math' } });
    const agent = await client(serve(fromExecutor(listener), { authenticate }));
    const parts = [
      { text: 'one', metadata: { n: 1 } },
      { raw: 'AQID', filename: 'a.bin', mediaType: 'application/octet-stream' },
      { url: 'https://files.example/b' },
      { data: [null, { deep: true }] },
    ];
    const { task: earlier } = await agent.send('earlier');
    const { task } = await agent.send(parts, {
      references: [earlier!],
      metadata: { urgent: true },
      configuration: { acceptedOutputModes: ['text/plain'] },
    });
    expect(task?.artifacts?.[0]?.parts).toEqual(parts);
    expect(given?.userMessage.parts.map(({ content }) => content)).toEqual([
      { $case: 'text', value: 'one' },
      { $case: 'raw', value: Buffer.from([1, 2, 3]) },
      { $case: 'url', value: 'https://files.example/b' },
      { $case: 'data', value: [null, { deep: true }] },
    ]);
    expect(given?.referenceTasks?.map(({ id, artifacts }) => [id, artifacts.length])).toEqual([
      [earlier?.id, 1],
    ]);
    expect(given?.request).toMatchObject({
      metadata: { urgent: true },
      configuration: { acceptedOutputModes: ['text/plain'] },
    });
    expect(given?.context.user).toEqual({ isAuthenticated: true, userName: 'ada' });
    expect(given?.context.state.get('caller')).toEqual({ scope: 'ada', sub: 'ada', team: 'math' });
  });

  it('may publish whole tasks: their changes become updates', async () => {
    const whole = executor(async (context, bus) => {
      const { task } = publisher(context, bus);
      const artifact = {
        artifactId: 'a',
        name: 'a',
        description: '',
        parts: [text('1')],
        metadata: undefined,
        extensions: [],
      };
      task();
      task(TaskState.TASK_STATE_WORKING, { artifacts: [artifact] });
      task(TaskState.TASK_STATE_WORKING, {
        artifacts: [artifact, { ...artifact, artifactId: 'b', parts: [text('2')] }],
      });
      task(TaskState.TASK_STATE_COMPLETED, { artifacts: [artifact] });
    });
    const events: unknown[] = [];
    for await (const event of (await client(serve(fromExecutor(whole)))).stream('Go'))
      events.push(brief(event));
    expect(events).toEqual(['SUBMITTED', '1', 'WORKING', '2', 'COMPLETED']);
  });

  it('may end a stream of chunks with an empty one, and say the same twice', async () => {
    const careful = executor(async (context, bus) => {
      const { task, status, chunk } = publisher(context, bus);
      task();
      status(TaskState.TASK_STATE_SUBMITTED);
      status(TaskState.TASK_STATE_WORKING);
      status(TaskState.TASK_STATE_WORKING);
      chunk('a', [text('all')]);
      chunk('a', []);
      chunk('a', [], { append: true, lastChunk: true });
      status(TaskState.TASK_STATE_COMPLETED);
      status(TaskState.TASK_STATE_WORKING);
    });
    const events: unknown[] = [];
    for await (const event of (await client(serve(fromExecutor(careful)))).stream('Go'))
      events.push(brief(event));
    expect(events).toEqual(['SUBMITTED', 'WORKING', 'all', '+', 'COMPLETED']);
  });

  it('gets `cancelTask`, and reports the final state', async () => {
    const canceled = Promise.withResolvers<string>();
    const slow = executor(
      async (context, bus) => {
        const { task, status } = publisher(context, bus);
        task();
        status(TaskState.TASK_STATE_WORKING);
        await canceled.promise;
        status(TaskState.TASK_STATE_CANCELED, 'Stopped in time');
        bus.finished();
      },
      async (taskId) => canceled.resolve(taskId),
    );
    const agent = await client(serve(fromExecutor(slow)));
    const { task } = await agent.send('Go', { returnImmediately: true });
    const ended = await agent.task(task!).cancel();
    expect(await canceled.promise).toBe(task?.id);
    expect(ended.status).toMatchObject({
      state: 'TASK_STATE_CANCELED',
      message: { parts: [{ text: 'Stopped in time' }] },
    });
  });

  it.each([
    ['throws', async () => Promise.reject(new Error('secret'))],
    ['says nothing', async () => {}],
    [
      'does not say how the task ended',
      async (context: RequestContext, bus: Parameters<typeof publisher>[1]) =>
        publisher(context, bus).status(TaskState.TASK_STATE_WORKING),
    ],
    [
      'publishes an event of another task',
      async (context: RequestContext, bus: Parameters<typeof publisher>[1]) =>
        publisher({ ...context, taskId: 'other' } as RequestContext, bus).task(),
    ],
  ])('that %s has failed, and its text stays here', async (_, execute) => {
    const { task } = await (await client(serve(fromExecutor(executor(execute))))).send('Go');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('secret');
  });

  it('can listen to its own bus', async () => {
    const heard: string[] = [];
    const selfAware = executor(async (context, bus) => {
      const once = () => heard.push('once');
      const never = () => heard.push('never');
      bus
        .on('event', ({ kind }) => heard.push(kind))
        .once('event', once)
        .on('finished', never);
      bus.off('finished', never).once('finished', () => heard.push('finished'));
      const { task, status } = publisher(context, bus);
      task();
      status(TaskState.TASK_STATE_COMPLETED);
      bus.finished();
      bus.removeAllListeners();
      bus.finished();
    });
    await (await client(serve(fromExecutor(selfAware)))).send('Go');
    expect(heard).toEqual(['task', 'once', 'statusUpdate', 'finished']);
  });
});

describe('the durability it lacked', () => {
  it('its events are there when its process is not, and another process runs it again', async () => {
    const store = memoryStore();
    const runs: number[] = [];
    const gate = Promise.withResolvers<void>();
    const slow = executor(async (context, bus) => {
      runs.push(context.task?.artifacts.length ?? 0);
      const { task, status, chunk } = publisher(context, bus);
      task();
      status(TaskState.TASK_STATE_WORKING);
      chunk('half', [text('half')]);
      if (runs.length === 1) await gate.promise;
      status(TaskState.TASK_STATE_COMPLETED);
      bus.finished();
    });
    const options = { store, restart: 'rerun' as const };
    const first = serve(fromExecutor(slow), options);
    const { task } = await (await client(first)).send('Go', { returnImmediately: true });
    await vi.waitFor(async () => {
      const known = await (await client(first)).getTask({ id: task!.id });
      expect(textOf(known.artifacts?.[0])).toBe('half');
    });
    await first.close({ graceMs: 0 });
    const second = await client(serve(fromExecutor(slow), options));
    const { task: ended } = await second.follow(task!).result();
    expect([ended?.status.state, textOf(ended?.artifacts?.[0])]).toEqual(['TASK_STATE_COMPLETED', 'half']);
    expect(runs).toEqual([0, 1]);
    gate.resolve();
  });
});
