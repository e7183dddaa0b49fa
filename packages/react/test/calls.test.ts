import { A2AError, ClientError, textOf } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { agentFeeds } from '../src/feeds/agent-feeds.ts';
import type { Conversed } from '../src/feeds/conversation-feed.ts';
import { taskFeed } from '../src/feeds/task-feed.ts';
import { type Observed, observe } from './observed-agent.ts';
import { Gate, serveTalking } from './talking-agent.ts';
import { watch } from './watch.ts';

const open = async (gate = new Gate()) => {
  const served = await serveTalking(gate);
  const observed = await observe(served);
  return { ...served, observed, feeds: agentFeeds(observed.agent), direct: served.agent };
};

const states = ({ tasks }: Conversed) =>
  tasks.map(({ status }) => status.state.slice('TASK_STATE_'.length)).join();

/** Resolves when a call was made so often. */
const made = (observed: Observed, method: string, times = 1) =>
  expect.poll(() => observed.of(method).length).toBe(times);

/** Holds calls of a method up until they are let go. */
function held(observed: Observed, name: string): () => void {
  const gate = Promise.withResolvers<void>();
  observed.before = ({ method }) => (method === name ? gate.promise : undefined);
  return gate.resolve;
}

/** Every timer of 0 ms, and what came of it. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

const working = (id: string, contextId = 'c'): Task => ({
  id,
  contextId,
  status: { state: 'TASK_STATE_WORKING' },
});

describe('a page that is left', () => {
  it('ends the stream of its task and the reading of its list, and shows nothing of what comes after', async () => {
    const { observed, feeds, direct } = await open();
    const { task } = await direct.send('hold', { contextId: 'c', returnImmediately: true });
    const talk = watch(feeds.conversation('c'));
    await talk.until(({ current }) => current?.status.state === 'TASK_STATE_WORKING');
    await made(observed, 'SubscribeToTask');
    talk.stop();
    const [stream] = observed.of('SubscribeToTask');
    await expect.poll(() => stream?.signal.aborted).toBe(true);
    const { length } = talk.values;
    await direct.cancelTask({ id: task!.id });
    await settled();
    expect(talk.values).toHaveLength(length);
    expect(feeds.task(task!.id).get().connection).not.toBe('reconnecting');
    // Shown again, it has what happened meanwhile.
    await watch(feeds.conversation('c')).until((value) => states(value) === 'CANCELED');
  });

  it.each(['ListTasks', 'GetTask'])(
    'while %s is under way gives the call up, and has no error',
    async (method) => {
      const { observed, feeds, direct } = await open();
      await direct.send('One', { contextId: 'c' });
      const letGo = held(observed, method);
      const feed = feeds.conversation('c');
      const talk = watch(feed);
      await made(observed, method);
      talk.stop();
      await expect.poll(() => observed.of(method)[0]?.signal.aborted).toBe(true);
      const calls = observed.calls.length;
      letGo();
      await settled();
      expect(observed.calls).toHaveLength(calls);
      expect(feed.get()).toMatchObject({ tasks: [], error: undefined });
      await watch(feed).until((value) => states(value) === 'COMPLETED');
    },
  );

  it('while a stream is opened is not said to reconnect', async () => {
    const { observed, feeds, direct } = await open();
    const { task } = await direct.send('hold', { returnImmediately: true });
    const letGo = held(observed, 'SubscribeToTask');
    const feed = feeds.task(task!.id);
    const followed = watch(feed);
    await made(observed, 'SubscribeToTask');
    followed.stop();
    await expect.poll(() => observed.calls[0]?.signal.aborted).toBe(true);
    letGo();
    await settled();
    expect(feed.get()).toEqual({ task: undefined, connection: 'connecting', error: undefined });
    const again = watch(feed);
    await again.until(({ connection }) => connection === 'connected');
    await direct.cancelTask({ id: task!.id });
    await again.until(({ connection }) => connection === 'closed');
  });

  it('in the pause before another attempt makes none', async () => {
    const { observed, feeds, direct } = await open();
    const { task } = await direct.send('hold', { returnImmediately: true });
    observed.before = () => {
      throw new TypeError('fetch failed');
    };
    const followed = watch(feeds.task(task!.id));
    await followed.until(({ connection }) => connection === 'reconnecting');
    const calls = observed.calls.length;
    followed.stop();
    await settled();
    expect(observed.calls).toHaveLength(calls);
    expect(feeds.task(task!.id).get()).toMatchObject({ connection: 'reconnecting' });
  });

  it('while a message is sent still sends it, and opens nothing for the answer', async () => {
    const { observed, feeds } = await open();
    const letGo = held(observed, 'SendMessage');
    const feed = feeds.conversation(undefined);
    const talk = watch(feed);
    const sent = feed.send('hold');
    talk.stop();
    await settled();
    letGo();
    const { task } = await sent;
    await settled();
    expect(observed.calls.map(({ method }) => method)).toEqual(['SendMessage']);
    expect(feed.get()).toMatchObject({ contextId: task!.contextId, tasks: [{ id: task!.id }] });
    const again = watch(feed);
    await feed.cancel();
    await again.until((value) => states(value) === 'CANCELED');
  });
});

describe('a task', () => {
  it('that has ended is not asked for, however it became known', async () => {
    const { observed, feeds, direct } = await open();
    const { task } = await direct.send('One');
    const offered = feeds.task(task!.id);
    offered.offer(task!);
    expect(watch(offered).values[0]).toMatchObject({ connection: 'closed', task: { id: task!.id } });
    const other = agentFeeds(observed.agent);
    const followed = watch(other.task(task!.id));
    await followed.until(({ connection }) => connection === 'closed');
    followed.stop();
    await settled();
    // A task that has ended has no stream, and is read instead.
    const calls = ['SubscribeToTask', 'GetTask'];
    expect(observed.calls.map(({ method }) => method)).toEqual(calls);
    watch(other.task(task!.id));
    await settled();
    expect(observed.calls).toHaveLength(calls.length);
  });

  it('is offered as it is, once: later offers add messages alone', () => {
    const feed = taskFeed({} as never, 't');
    const message = (messageId: string) => ({
      messageId,
      role: 'ROLE_USER' as const,
      parts: [{ text: 'Hi' }],
    });
    feed.offer({ ...working('t'), history: [message('a')] });
    const first = feed.get();
    feed.offer({ ...working('t'), status: { state: 'TASK_STATE_FAILED' }, history: [message('a')] });
    feed.offer(working('t'));
    expect(feed.get()).toBe(first);
    feed.offer({ ...working('t'), history: [message('b'), message('a')] });
    expect(feed.get()).toMatchObject({
      connection: 'idle',
      task: { status: { state: 'TASK_STATE_WORKING' }, history: [{ messageId: 'b' }, { messageId: 'a' }] },
    });
    feed.offer({ ...working('t'), history: [message('b'), message('c')] });
    expect(feed.get().task?.history?.map(({ messageId }) => messageId)).toEqual(['b', 'c', 'a']);
  });

  it('tells of each state that it comes to, once', async () => {
    const gate = new Gate();
    const { direct } = await open(gate);
    const { task } = await direct.send('slow', { returnImmediately: true });
    const seen: string[] = [];
    const feed = taskFeed(direct, task!.id, ({ status }) => seen.push(status.state));
    const followed = watch(feed);
    await followed.until((value) => textOf(value.task?.artifacts?.[0]) === 'Half ');
    gate.open();
    await followed.until(({ connection }) => connection === 'closed');
    expect(seen.filter((state) => state !== 'TASK_STATE_SUBMITTED')).toEqual([
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
  });

  it('goes on after the last event that it has, and says why it broke until it is connected', async () => {
    const gate = new Gate();
    const { observed, feeds, direct } = await open(gate);
    const { task } = await direct.send('slow', { returnImmediately: true });
    const followed = watch(feeds.task(task!.id));
    await followed.until((value) => textOf(value.task?.artifacts?.[0]) === 'Half ');
    observed.cut();
    const broken = await followed.until(({ connection }) => connection === 'reconnecting');
    expect(broken.error).toBeInstanceOf(Error);
    await followed.until(({ connection, error }) => connection === 'connected' && error === undefined);
    expect(observed.calls.map(({ lastEventId }) => lastEventId === null)).toEqual([true, false]);
    gate.open();
    const whole = await followed.until(({ connection }) => connection === 'closed');
    expect(textOf(whole.task?.artifacts?.[0])).toBe('Half and whole');
  });
});

describe('a conversation', () => {
  it('asks once for each task that it does not know, the oldest first, and again for one that could not be read', async () => {
    const { observed, feeds, direct } = await open();
    const ids: string[] = [];
    for (const text of ['a', 'b', 'c']) ids.push((await direct.send(text, { contextId: 'c' })).task!.id);
    let failing = ids[1];
    const letGo = Promise.withResolvers<void>();
    observed.before = async ({ method, params }) => {
      if (method !== 'GetTask') return;
      await letGo.promise;
      if (params.id === failing) throw new TypeError('fetch failed');
    };
    const feed = feeds.conversation('c');
    const talk = watch(feed);
    await made(observed, 'GetTask', 3);
    feeds.onChange(working('other', 'd'));
    feed.update(working('other', 'd'));
    letGo.resolve();
    await talk.until(({ tasks }) => tasks.length === 2);
    expect(feed.get().tasks.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    failing = undefined;
    expect(observed.of('GetTask').map(({ params }) => params.id)).toEqual(ids);
    talk.stop();
    await settled();
    const again = watch(feed);
    await again.until(({ tasks }) => tasks.length === 3);
    expect(observed.of('GetTask').map(({ params }) => params.id)).toEqual([...ids, ids[1]]);
    expect(observed.of('SubscribeToTask')).toEqual([]);
  });

  it('sends to the task that asks, and otherwise as a new one of its context', async () => {
    const { observed, feeds } = await open();
    const feed = feeds.conversation('c');
    const talk = watch(feed);
    await feed.send('hold');
    await talk.until(({ current }) => current);
    await feed.send('ask');
    const asking = await talk.until(({ current }) => current?.status.state === 'TASK_STATE_INPUT_REQUIRED');
    await feed.send({ data: { amount: 2 } });
    const sent = observed.of('SendMessage').map(({ params }) => params.message);
    expect(sent.map((message) => message?.taskId)).toEqual([undefined, undefined, asking.current!.id]);
    expect(sent).toMatchObject([{ contextId: 'c' }, { contextId: 'c' }, { contextId: 'c' }]);
    const done = await talk.until((value) => states(value) === 'WORKING,COMPLETED');
    expect(done.current?.id).toBe(done.tasks[0]?.id);
    await feed.cancel();
    await talk.until((value) => states(value) === 'CANCELED,COMPLETED');
    expect(feed.get().current).toBeUndefined();
  });

  it('keeps its context, whatever a reply says', async () => {
    const { observed, feeds } = await open();
    const message = { messageId: 'm', role: 'ROLE_AGENT', contextId: 'other', parts: [{ text: 'Hi' }] };
    Object.assign(observed.agent, { send: async () => ({ message }) });
    const feed = feeds.conversation('c');
    const talk = watch(feed);
    await talk.until(({ connection }) => connection === 'connected');
    await feed.send('Hello');
    expect(feed.get().contextId).toBe('c');
    expect(feeds.conversation('other')).not.toBe(feed);
    await settled();
    expect(observed.of('ListTasks')).toHaveLength(1);
  });

  it('has the messages that could not be sent, each in its place', async () => {
    const { observed, feeds } = await open();
    const failures = new Set(['One', 'Two']);
    observed.before = ({ params }) => {
      if (failures.has(textOf(params.message))) throw new TypeError('fetch failed');
    };
    const feed = feeds.conversation('c');
    const talk = watch(feed);
    for (const text of ['One', 'Two']) await feed.send(text).catch(() => {});
    const shown = () => feed.get().sent.map(({ message, state }) => `${textOf(message)} ${state}`);
    expect(shown()).toEqual(['One failed', 'Two failed']);
    failures.delete('One');
    const again = feed.send(feed.get().sent[0]!.message);
    expect(shown()).toEqual(['One sending', 'Two failed']);
    await again;
    await talk.until(({ sent }) => sent.length === 1);
    expect(shown()).toEqual(['Two failed']);
    expect(feed.get().sent[0]?.error).toMatchObject({ code: 'NETWORK' });
  });

  it.each([
    [new ClientError('NETWORK', 'Away'), 'reconnecting'],
    [new A2AError('PERMISSION_DENIED'), 'closed'],
  ] as const)('whose list cannot be read says so: %s', async (error, connection) => {
    const { observed, feeds } = await open();
    Object.assign(observed.agent, {
      listTasks: async () => {
        throw error;
      },
    });
    const talk = watch(feeds.conversation('c'));
    expect((await talk.until((value) => value.connection === connection)).error).toBe(error);
  });

  it('reconnects while one of its open tasks does, and has its error', async () => {
    const { observed, feeds, direct } = await open();
    await direct.send('One', { contextId: 'c' });
    await direct.send('hold', { contextId: 'c', returnImmediately: true });
    observed.before = ({ method }) => {
      if (method === 'SubscribeToTask') throw new TypeError('fetch failed');
    };
    const feed = feeds.conversation('c');
    const talk = watch(feed);
    const broken = await talk.until(({ connection }) => connection === 'reconnecting');
    expect(broken.error).toMatchObject({ code: 'NETWORK' });
    // The task that it began later is connected, and changes nothing of that.
    const [stuck] = observed.of('SubscribeToTask');
    observed.before = ({ params }) => {
      if (params.id === stuck?.params.id) throw new TypeError('fetch failed');
    };
    const { task } = await feed.send('hold');
    const later = watch(feeds.task(task!.id));
    await later.until(({ connection }) => connection === 'connected');
    expect(feed.get().connection).toBe('reconnecting');
    await direct.cancelTask({ id: task!.id });
    await later.until(({ connection }) => connection === 'closed');
    observed.before = () => {};
    const back = await talk.until(({ connection }) => connection === 'connected');
    expect(back.error).toBeUndefined();
    await feed.cancel();
    await talk.until((value) => states(value) === 'COMPLETED,CANCELED,CANCELED');
  });

  it('is read as the list of its context, and has at once what another feed has seen', async () => {
    const { observed, feeds, direct } = await open();
    const { task } = await direct.send('One', { contextId: 'c' });
    const letGo = held(observed, 'ListTasks');
    const feed = feeds.conversation('c');
    const talk = watch(feed);
    await made(observed, 'ListTasks');
    expect(observed.of('ListTasks')[0]?.params).toMatchObject({ contextId: 'c', pageSize: 100 });
    feeds.onChange({ ...task!, contextId: 'other' });
    expect(feed.get().tasks).toEqual([]);
    feeds.onChange(task!);
    expect(states(feed.get())).toBe('COMPLETED');
    letGo();
    await talk.until(({ connection }) => connection === 'connected');
  });

  it('is idle until it has a context', async () => {
    const { observed, feeds } = await open();
    const feed = feeds.conversation(undefined);
    watch(feed);
    await settled();
    expect([feed.get().connection, observed.calls]).toEqual(['idle', []]);
    feed.update({ ...working('t'), contextId: undefined } as never);
    expect(feed.get().tasks).toEqual([]);
    const sending = feed.send('One');
    expect(feed.get()).toMatchObject({ connection: 'idle', sent: [{ state: 'sending' }] });
    await sending;
  });
});
