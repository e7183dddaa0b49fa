import { connect, textOf } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { agentFeeds, feedsOf } from '../src/feeds/agent-feeds.ts';
import type { Conversed } from '../src/feeds/conversation-feed.ts';
import { Gate, serveTalking } from './talking-agent.ts';
import { watch } from './watch.ts';

const states = ({ tasks }: Conversed) => tasks.map(({ status }) => status.state.slice('TASK_STATE_'.length));

describe('a conversation', () => {
  it('shows a message at once, gets its context with the first reply, and is found by it', async () => {
    const { agent } = await serveTalking();
    const feeds = feedsOf(agent);
    const feed = feeds.conversation(undefined);
    const watched = watch(feed);
    const sent = feed.send('One');
    expect(feed.get().sent).toMatchObject([{ state: 'sending', message: { parts: [{ text: 'One' }] } }]);
    const { task } = await sent;
    expect(feed.get()).toMatchObject({ contextId: task!.contextId, sent: [] });
    expect(feeds.conversation(task!.contextId)).toBe(feed);
    await watched.until((value) => states(value)[0] === 'COMPLETED');
    await feed.send('Two');
    const both = await watched.until((value) => states(value).join() === 'COMPLETED,COMPLETED');
    expect(both.tasks.map(({ history }) => textOf(history?.[0]))).toEqual(['One', 'Two']);
    expect(both.current).toBeUndefined();
    expect(both.artifacts.map(({ taskId, artifact }) => [taskId, artifact.name])).toEqual(
      both.tasks.map(({ id }) => [id, 'text']),
    );
  });

  it('answers the question of its task, and the message stays where it was said', async () => {
    const { agent } = await serveTalking();
    const feed = feedsOf(agent).conversation(undefined);
    const watched = watch(feed);
    await expect(feed.answer({ amount: 1 })).rejects.toThrow('No task waits');
    await feed.send('ask');
    await watched.until((value) => states(value)[0] === 'INPUT_REQUIRED');
    await feed.answer({ amount: 7 });
    const asked = (value: Conversed) => value.tasks[0]?.history?.filter(({ role }) => role === 'ROLE_USER');
    const done = await watched.until(
      (value) => states(value).join() === 'COMPLETED' && asked(value)?.length === 2,
    );
    expect(done.tasks[0]?.artifacts).toMatchObject([{ parts: [{ data: { amount: 7 } }] }]);
    expect(done.tasks[0]?.history?.[0]?.role).toBe('ROLE_USER');
    const parts = done.tasks[0]?.history?.map((message) => textOf(message));
    expect(parts?.indexOf('How much?')).toBeLessThan(parts?.lastIndexOf('') ?? 0);
    expect(done.sent).toEqual([]);
  });

  it('keeps a message that could not be sent, which is sent once when it is tried again', async () => {
    const { agent, server } = await serveTalking();
    let isDown = true;
    const broken = await connect(agent.card, {
      retry: false,
      fetch: async (request) => {
        const response = await server.fetch(request);
        if (!isDown) return response;
        throw new TypeError('fetch failed');
      },
    });
    const feed = agentFeeds(broken).conversation('context-1');
    await expect(feed.send('One')).rejects.toMatchObject({ code: 'NETWORK' });
    const [failed] = feed.get().sent;
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'NETWORK' } });
    isDown = false;
    const watched = watch(feed);
    await feed.send(failed!.message);
    await watched.until(({ sent, tasks }) => sent.length === 0 && tasks.length > 0);
    expect((await agent.listTasks({ contextId: 'context-1' })).tasks).toHaveLength(1);
  });

  it('keeps a message that was answered with a message', async () => {
    const { agent } = await serveTalking();
    const message = {
      messageId: 'm-1',
      role: 'ROLE_AGENT',
      contextId: 'context-2',
      parts: [{ text: 'Hello!' }],
    };
    const plain = await connect(agent.card, {
      fetch: async () => Response.json({ jsonrpc: '2.0', id: 1, result: { message } }),
    });
    const feed = feedsOf(plain).conversation(undefined);
    await feed.send('hello');
    expect(feed.get().contextId).toBe('context-2');
    expect(feed.get().sent).toMatchObject([{ state: 'answered', reply: { parts: [{ text: 'Hello!' }] } }]);
  });

  it('cancels its current task', async () => {
    const { agent } = await serveTalking();
    const feed = feedsOf(agent).conversation('context-3');
    const watched = watch(feed);
    expect(await feed.cancel()).toBeUndefined();
    await feed.send('hold');
    expect((await watched.until(({ current }) => current)).current?.status.state).toMatch(
      /SUBMITTED|WORKING/,
    );
    await feed.cancel();
    await watched.until((value) => states(value).join() === 'CANCELED');
  });

  it('shows a task that another page began, and the messages of a page that was loaded again', async () => {
    const gate = new Gate();
    const { agent, url } = await serveTalking(gate);
    const first = feedsOf(agent).conversation('context-4');
    const watched = watch(first);
    await first.send('slow');
    const second = agentFeeds(await connect(url)).conversation('context-4');
    const other = watch(second);
    await other.until(({ current }) => textOf(current?.artifacts?.[0]) === 'Half ');
    gate.open();
    for (const page of [watched, other]) await page.until((value) => states(value).join() === 'COMPLETED');
    expect(second.get().tasks[0]?.history?.map((message) => textOf(message))[0]).toBe('slow');
    const third = watch(agentFeeds(await connect(url)).conversation('context-4'));
    const ended = await third.until(({ tasks }) => tasks.length === 1);
    expect(ended.tasks[0]?.history?.map((message) => textOf(message))[0]).toBe('slow');
    expect(textOf(ended.tasks[0]?.artifacts?.[0])).toBe('Half and whole');
    expect(second.get().connection).toBe('connected');
  });
});

describe('a list of tasks', () => {
  it('is read page by page, and again when this page sees a change', async () => {
    const { agent } = await serveTalking();
    for (const text of ['a', 'b', 'c']) await agent.send(text);
    const feeds = feedsOf(agent);
    const list = feeds.list({ pageSize: 2, pollMs: 3_600_000 });
    expect(feeds.list({ pollMs: 3_600_000, pageSize: 2 })).toBe(list);
    const watched = watch(list);
    expect((await watched.until(({ tasks }) => tasks.length === 2)).hasMore).toBe(true);
    list.more();
    expect((await watched.until(({ tasks }) => tasks.length === 3)).hasMore).toBe(false);
    await feeds.conversation('context-5').send('hold');
    const { tasks } = await watched.until((value) => value.tasks.length === 4);
    const running = watch(feeds.task(tasks[0]!.id));
    await running.until(({ connection }) => connection === 'connected');
    const before = list.get().tasks;
    await agent.cancelTask({ id: tasks[0]!.id });
    const after = await watched.until((value) => value.tasks[0]?.status.state === 'TASK_STATE_CANCELED');
    expect(after.tasks[3]).toBe(before[3]);
  });

  it('says that it cannot be read, and is read again', async () => {
    const { agent, stop, restart } = await serveTalking();
    await agent.send('a');
    const watched = watch(feedsOf(agent).list({ pollMs: 5 }));
    await watched.until(({ tasks }) => tasks.length === 1);
    await stop();
    const broken = await watched.until(({ connection }) => connection === 'reconnecting');
    expect(broken.tasks).toHaveLength(1);
    await restart();
    await watched.until(({ connection }) => connection === 'connected');
  });
});
