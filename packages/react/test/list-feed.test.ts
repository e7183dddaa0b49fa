import { A2AError, type AgentClient, ClientError, connect } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentFeeds, feedsOf } from '../src/feeds/agent-feeds.ts';
import { newMessage } from '../src/feeds/new-message.ts';
import { Shared } from '../src/feeds/shared.ts';
import { type ListOptions, taskListFeed } from '../src/feeds/task-feed.ts';
import { serveTalking } from './talking-agent.ts';
import { watch } from './watch.ts';

const taskOf = (id: string, state = 'WORKING', more: object = {}) =>
  ({ id, contextId: 'c', status: { state: `TASK_STATE_${state}`, timestamp: 'then' }, ...more }) as Task;

/** A list of an agent whose tasks the test changes, and the requests that it got. */
function listOf(ids: readonly string[], options: ListOptions = {}) {
  const state = { tasks: ids.map((id) => taskOf(id)), failure: undefined as Error | undefined };
  const asked: object[] = [];
  const agent = {
    async listTasks(request: { pageSize: number; pageToken?: string }, { signal }: { signal: AbortSignal }) {
      asked.push({ ...request, hasSignal: signal instanceof AbortSignal });
      if (state.failure) throw state.failure;
      const from = Number(request.pageToken ?? 0);
      const to = from + request.pageSize;
      return {
        tasks: structuredClone(state.tasks.slice(from, to)),
        nextPageToken: to < state.tasks.length ? String(to) : '',
      };
    },
  } as unknown as AgentClient;
  const feed = taskListFeed(agent, { pollMs: 60_000, ...options });
  return { feed, state, asked, agent };
}

const ids = ({ tasks }: { tasks: readonly Task[] }) => tasks.map(({ id }) => id);
const count = (n: number) => Array.from({ length: n }, (_, index) => `t${index}`);

describe('a list of tasks', () => {
  it('asks nothing before it is shown, and is read with its filter', async () => {
    const { feed, asked } = listOf(['a', 'b'], { contextId: 'c', historyLength: 1 });
    expect(feed.get()).toEqual({ tasks: [], hasMore: false, connection: 'idle', error: undefined });
    expect(asked).toEqual([]);
    const watched = watch(feed);
    const read = await watched.until(({ connection }) => connection === 'connected');
    expect([ids(read), read.hasMore, read.error]).toEqual([['a', 'b'], false, undefined]);
    expect(asked).toEqual([{ contextId: 'c', historyLength: 1, pageSize: 50, hasSignal: true }]);
    expect(watched.values.map(({ connection }) => connection)).toEqual(['idle', 'connecting', 'connected']);
  });

  it('has as many as were asked for, in pages of 100, and more on demand', async () => {
    const { feed, asked } = listOf(count(400), { pageSize: 150 });
    const watched = watch(feed);
    const first = await watched.until(({ tasks }) => tasks.length > 0);
    expect([ids(first), first.hasMore]).toEqual([count(150), true]);
    feed.more();
    const second = await watched.until(({ tasks }) => tasks.length > 150);
    expect([ids(second), second.hasMore]).toEqual([count(300), true]);
    feed.more();
    const all = await watched.until(({ tasks }) => tasks.length > 300);
    expect([ids(all), all.hasMore]).toEqual([count(400), false]);
    expect(asked.slice(0, 5)).toMatchObject([
      { pageSize: 100 },
      { pageSize: 50, pageToken: '100' },
      { pageSize: 100 },
      { pageSize: 100, pageToken: '100' },
      { pageSize: 100, pageToken: '200' },
    ]);
  });

  it('keeps the objects of tasks that are as they were, and itself without a change', async () => {
    const { feed, state, asked } = listOf(['a', 'b']);
    const watched = watch(feed);
    const first = await watched.until(({ connection }) => connection === 'connected');
    feed.refresh();
    await expect.poll(() => asked.length).toBe(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(feed.get()).toBe(first);
    state.tasks = [taskOf('a'), taskOf('b', 'COMPLETED'), taskOf('d')];
    feed.refresh();
    const second = await watched.until(({ tasks }) => tasks.length === 3);
    expect(second.tasks[0]).toBe(first.tasks[0]);
    expect(second.tasks[1]).not.toBe(first.tasks[1]);
    state.tasks = [taskOf('a'), taskOf('b', 'COMPLETED')];
    feed.refresh();
    expect(ids(await watched.until(({ tasks }) => tasks.length === 2))).toEqual(['a', 'b']);
    state.tasks = [taskOf('a'), taskOf('b', 'FAILED')];
    feed.refresh();
    await watched.until(({ tasks }) => tasks[1]?.status.state === 'TASK_STATE_FAILED');
    state.tasks = [taskOf('b', 'FAILED'), taskOf('a')];
    feed.refresh();
    expect(ids(await watched.until(({ tasks }) => tasks[0]?.id === 'b'))).toEqual(['b', 'a']);
  });

  it('asks for nothing while its page is hidden, however often its time comes, and at once when it is shown', async () => {
    let pauses = 0;
    class Page extends EventTarget {
      hidden = true;
      override addEventListener(...listener: Parameters<EventTarget['addEventListener']>) {
        pauses += 1;
        super.addEventListener(...listener);
      }
    }
    const page = new Page();
    vi.stubGlobal('document', page);
    for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => {});
    const { feed, asked } = listOf(['a'], { pollMs: 1 });
    const watched = watch(feed);
    onTestFinished(() => {
      watched.stop();
      vi.unstubAllGlobals();
    });
    await expect.poll(() => pauses).toBeGreaterThan(5);
    expect(asked).toHaveLength(1);
    page.hidden = false;
    page.dispatchEvent(new Event('visibilitychange'));
    await expect.poll(() => asked.length).toBeGreaterThan(1);
  });

  it('says that there is more, though what it shows is as it was', async () => {
    const { feed, state } = listOf(['a', 'b'], { pageSize: 2 });
    const watched = watch(feed);
    const first = await watched.until(({ connection }) => connection === 'connected');
    expect(first.hasMore).toBe(false);
    state.tasks = ['a', 'b', 'c'].map((id) => taskOf(id));
    feed.refresh();
    const second = await watched.until(({ hasMore }) => hasMore);
    expect(second.tasks).toBe(first.tasks);
  });

  it.each(['answers', 'fails'] as const)(
    'shows nothing of a read that %s after nothing shows it any more',
    async (how) => {
      const { agent, feed } = listOf(['a']);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const { listTasks } = agent;
      let signal: AbortSignal | undefined;
      const held: typeof listTasks = async (request, options) => {
        signal = options?.signal;
        await promise;
        return listTasks(request, options);
      };
      Object.assign(agent, { listTasks: held });
      const watched = watch(feed);
      watched.stop();
      await expect.poll(() => signal?.aborted).toBe(true);
      if (how === 'answers') resolve();
      else reject(new ClientError('NETWORK', 'Away'));
      await new Promise((done) => setImmediate(done));
      expect(feed.get()).toMatchObject({ tasks: [], connection: 'connecting', error: undefined });
    },
  );

  it('waits only shortly after the first failure since it could be read', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { feed, state, asked } = listOf(['a']);
    state.failure = new ClientError('NETWORK', 'Away');
    const watched = watch(feed);
    onTestFinished(watched.stop);
    for (let failures = 1; failures < 7; failures += 1) await vi.advanceTimersToNextTimerAsync();
    expect(asked).toHaveLength(7);
    state.failure = undefined;
    await vi.advanceTimersToNextTimerAsync();
    expect(feed.get().connection).toBe('connected');
    state.failure = new ClientError('NETWORK', 'Away');
    feed.refresh();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(9);
    await vi.advanceTimersByTimeAsync(250);
    expect(asked).toHaveLength(10);
  });

  it('asks with one backoff while the agent cannot be reached, though its client tries again by itself', async () => {
    const { agent } = await serveTalking();
    const asked: string[] = [];
    const away = await connect(agent.card, {
      fetch: async ({ url }) => {
        asked.push(url);
        throw new TypeError('fetch failed');
      },
    });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const feed = taskListFeed(away, {});
    onTestFinished(watch(feed).stop);
    await vi.advanceTimersByTimeAsync(40_000);
    expect(feed.get().connection).toBe('reconnecting');
    // The shortest pauses are 125, 250, 500, 1,000, 2,000 and 4,000 ms, then 5 s. Each time, both interfaces are tried.
    const mostTimes = 7 + Math.floor((40_000 - 7_875) / 5_000);
    expect(asked.length).toBeGreaterThan(8);
    expect(asked.length).toBeLessThanOrEqual(mostTimes * agent.card.supportedInterfaces.length);
  });

  it('shows at once what is known of a task elsewhere, and is read again', async () => {
    const { feed, state, asked } = listOf(['a', 'b']);
    const watched = watch(feed);
    const first = await watched.until(({ connection }) => connection === 'connected');
    state.tasks = [taskOf('a'), taskOf('b', 'COMPLETED')];
    feed.update(taskOf('b', 'COMPLETED', { history: [] }));
    expect(feed.get().tasks[1]).toEqual({ ...first.tasks[1], status: taskOf('b', 'COMPLETED').status });
    expect(feed.get().tasks[0]).toBe(first.tasks[0]);
    await expect.poll(() => asked.length).toBe(2);
    feed.update(taskOf('new'));
    expect(ids(feed.get())).toEqual(['a', 'b']);
    await expect.poll(() => asked.length).toBe(3);
  });

  it('says that it is made again, or that it ended, and keeps what it had', async () => {
    const { feed, state } = listOf(['a']);
    const watched = watch(feed);
    await watched.until(({ connection }) => connection === 'connected');
    state.failure = new ClientError('NETWORK', 'Away');
    feed.refresh();
    const away = await watched.until(({ connection }) => connection === 'reconnecting');
    expect([ids(away), away.error]).toEqual([['a'], state.failure]);
    state.failure = undefined;
    const back = await watched.until(({ connection }) => connection === 'connected');
    expect(back.error).toBeUndefined();
    state.failure = new A2AError('PERMISSION_DENIED');
    feed.refresh();
    const ended = await watched.until(({ connection }) => connection === 'closed');
    expect([ids(ended), ended.error]).toEqual([['a'], state.failure]);
  });

  it('is read no more once nothing shows it', async () => {
    const { feed, asked } = listOf(['a'], { pollMs: 5 });
    const watched = watch(feed);
    await expect.poll(() => asked.length).toBeGreaterThan(2);
    watched.stop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { length } = asked;
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(asked.length).toBe(length);
    // Unsubscribed and subscribed at once, as strict mode does, it goes on.
    const again = watch(feed);
    again.stop();
    watch(feed);
    await expect.poll(() => asked.length).toBeGreaterThan(length + 2);
  });
});

describe('the feeds of an agent', () => {
  it('are shared by all that show the same', () => {
    const { agent } = listOf([]);
    const feeds = feedsOf(agent);
    expect(feedsOf(agent)).toBe(feeds);
    expect(feeds.task('a')).toBe(feeds.task('a'));
    expect(feeds.task('b')).not.toBe(feeds.task('a'));
    const one = feeds.list({ contextId: 'c', pageSize: 5 });
    expect(feeds.list({ pageSize: 5, contextId: 'c' })).toBe(one);
    expect(feeds.list({ pageSize: 6, contextId: 'c' })).not.toBe(one);
    expect(feeds.conversation(undefined)).not.toBe(feeds.conversation(undefined));
    const conversation = feeds.conversation(undefined);
    feeds.adopt('c', conversation);
    expect(feeds.conversation('c')).toBe(conversation);
  });

  it('tell lists of what becomes of a task', async () => {
    const { agent } = listOf(['a']);
    const feeds = agentFeeds(agent);
    const list = feeds.list({ pollMs: 60_000 });
    const watched = watch(list);
    await watched.until(({ connection }) => connection === 'connected');
    feeds.onChange(taskOf('a', 'COMPLETED'));
    expect(list.get().tasks[0]?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('are made again where nothing holds them, and are all that are there', () => {
    const shared = new Shared<{ n: number }>();
    const values = Array.from({ length: 150 }, (_, n) => shared.get(`k${n}`, () => ({ n })));
    expect(shared.all()).toEqual(values);
    expect(shared.get('k7', () => ({ n: -1 }))).toBe(values[7]);
  });
});

describe('a message that is new', () => {
  it.each<[Parameters<typeof newMessage>[0], object]>([
    ['Hi', { parts: [{ text: 'Hi' }] }],
    [{ text: 'Hi' }, { parts: [{ text: 'Hi' }] }],
    [[{ data: 1 }], { parts: [{ data: 1 }] }],
    [
      { parts: [{ text: 'Hi' }], metadata: { a: 1 } } as never,
      { parts: [{ text: 'Hi' }], metadata: { a: 1 } },
    ],
  ])('has an id and its place: %j', (input, content) => {
    expect(newMessage(input, { taskId: 't', contextId: 'c' })).toEqual({
      messageId: expect.stringMatching(/^[\da-f]{32}$/),
      role: 'ROLE_USER',
      taskId: 't',
      contextId: 'c',
      ...content,
    });
    expect(newMessage(input)).not.toHaveProperty('taskId');
    expect(newMessage(input)).not.toHaveProperty('contextId');
  });

  it('and was made before is as it was', () => {
    const given = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'Hi' }] };
    expect(newMessage(given, { taskId: 't', contextId: 'c' })).toEqual(given);
  });
});
