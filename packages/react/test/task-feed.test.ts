import { type AgentClient, connect, textOf } from '@batonjs/client';
import type { Artifact } from '@batonjs/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import { agentFeeds, feedsOf } from '../src/feeds/agent-feeds.ts';
import { type FollowedTask, taskFeed } from '../src/feeds/task-feed.ts';
import { Gate, serveTalking } from './talking-agent.ts';
import { watch } from './watch.ts';

const text = ({ task }: FollowedTask) => textOf(task?.artifacts?.[0]);

describe('a followed task', () => {
  it('grows until it has ended, and its connection is closed then', async () => {
    const gate = new Gate();
    const { agent } = await serveTalking(gate);
    const { task } = await agent.send('slow', { returnImmediately: true });
    const feed = feedsOf(agent).task(task!.id);
    const watched = watch(feed);
    const half = await watched.until((value) => text(value) === 'Half ');
    expect(half.connection).toBe('connected');
    gate.open();
    const whole = await watched.until(({ connection }) => connection === 'closed');
    expect(text(whole)).toBe('Half and whole');
    expect(whole.task?.status.state).toBe('TASK_STATE_COMPLETED');
    // Values that were shown do not change afterwards.
    expect(text(half)).toBe('Half ');
    expect(watched.values[1]).toMatchObject({ connection: 'connecting', task: undefined });
  });

  it('shows chunks that come fast together, and each of them', async () => {
    const { agent } = await serveTalking();
    const { task } = await agent.send('chunks 2000', { returnImmediately: true });
    const watched = watch(feedsOf(agent).task(task!.id));
    const last = await watched.until(({ connection }) => connection === 'closed');
    expect(text(last).split(' ')).toHaveLength(2_001);
    expect(watched.values.length).toBeLessThan(1_000);
  });

  it('keeps the objects of artifacts that did not change', async () => {
    const gate = new Gate();
    const { agent } = await serveTalking(gate);
    const { task } = await agent.send('slow', { returnImmediately: true });
    const watched = watch(feedsOf(agent).task(task!.id));
    const half = await watched.until((value) => text(value) === 'Half ');
    gate.open();
    const whole = await watched.until(({ connection }) => connection === 'closed');
    expect(whole.task?.artifacts?.[0]).not.toBe(half.task?.artifacts?.[0]);
    const ended = watched.values.filter(({ task }) => task?.status.state === 'TASK_STATE_COMPLETED');
    expect(new Set(ended.map(({ task }) => task?.artifacts?.[0])).size).toBe(1);
  });

  it('reconnects after a restart of the server, and says so meanwhile', async () => {
    const gate = new Gate();
    const { agent, restart, stop } = await serveTalking(gate);
    const { task } = await agent.send('slow', { returnImmediately: true });
    const watched = watch(feedsOf(agent).task(task!.id));
    await watched.until((value) => text(value) === 'Half ');
    await stop();
    const broken = await watched.until(({ connection }) => connection === 'reconnecting');
    expect(broken.error).toMatchObject({ name: expect.stringMatching(/Error$/) });
    expect(text(broken)).toBe('Half ');
    await restart();
    await watched.until(({ connection, error }) => connection === 'connected' && error === undefined);
    gate.open();
    const whole = await watched.until(({ connection }) => connection === 'closed');
    expect(text(whole)).toBe('Half and whole');
  });

  it('goes on after a cut connection without an event twice', async () => {
    const gate = new Gate();
    const { port, agent: direct } = await serveTalking(gate);
    const proxy = await startTcpProxy(port);
    onTestFinished(() => proxy.close());
    const url = `http://127.0.0.1:${proxy.port}`;
    const agent = await connect({ ...direct.card, supportedInterfaces: [{ ...direct.interface, url }] });
    const { task } = await agent.send('slow', { returnImmediately: true });
    const watched = watch(feedsOf(agent).task(task!.id));
    await watched.until((value) => text(value) === 'Half ');
    proxy.cut();
    await watched.until(({ connection }) => connection === 'reconnecting');
    gate.open();
    expect(text(await watched.until(({ connection }) => connection === 'closed'))).toBe('Half and whole');
  });

  it('that does not exist is an error, and nothing is tried again', async () => {
    const { agent } = await serveTalking();
    const watched = watch(feedsOf(agent).task('unknown'));
    const last = await watched.until(({ connection }) => connection === 'closed');
    expect(last).toMatchObject({ task: undefined, error: { reason: 'TASK_NOT_FOUND' } });
  });

  it('shows the answer to its question, which its stream leaves out', async () => {
    const { agent } = await serveTalking();
    const { task } = await agent.send('ask');
    const watched = watch(feedsOf(agent).task(task!.id));
    await watched.until(({ task }) => task?.status.state === 'TASK_STATE_INPUT_REQUIRED');
    await agent.send({ data: { amount: 5 } }, { task: task! });
    await watched.until(({ connection }) => connection === 'closed');
    const { task: last } = await watched.until(
      ({ task }) => task?.history?.filter(({ role }) => role === 'ROLE_USER').length === 2,
    );
    expect(last?.artifacts).toMatchObject([{ parts: [{ data: { amount: 5 } }] }]);
  });
});

describe('subscribers', () => {
  it('of one task share one stream, which ends when the last one has left', async () => {
    const { agent, server } = await serveTalking();
    const { task } = await agent.send('hold', { returnImmediately: true });
    const streams: Request[] = [];
    const counted = await connect('http://localhost', {
      fetch: (request) => {
        if (request.headers.get('accept')?.includes('event-stream')) streams.push(request);
        return server.fetch(request);
      },
    });
    const feeds = agentFeeds(counted);
    expect(feeds.task(task!.id)).toBe(feeds.task(task!.id));
    const first = watch(feeds.task(task!.id));
    const second = watch(feeds.task(task!.id));
    await first.until(({ connection }) => connection === 'connected');
    first.stop();
    second.stop();
    // Strict mode does this.
    const third = watch(feeds.task(task!.id));
    await third.until(({ task }) => task);
    expect(streams).toHaveLength(1);
    const ended = new Promise((resolve) => streams[0]!.signal.addEventListener('abort', resolve));
    third.stop();
    await ended;
    const fourth = watch(feeds.task(task!.id));
    expect(fourth.values[0]?.task?.status.state).toBe('TASK_STATE_WORKING');
    await agent.cancelTask({ id: task!.id });
    await fourth.until(({ connection }) => connection === 'closed');
  });
});

/** An agent whose task streams what the test writes. */
function scripted() {
  const { readable, writable } = new TransformStream<object, object>();
  const writer = writable.getWriter();
  const follow = (_: string, { onOpen }: { onOpen: () => void }) => {
    onOpen();
    return Object.assign(readable, { lastEventId: undefined });
  };
  return {
    agent: { follow } as unknown as AgentClient,
    write: (event: object) => void writer.write(event),
    close: () => void writer.close(),
  };
}

const part = (artifactId: string, text: string): Artifact => ({ artifactId, parts: [{ text }] });
const status = (text: string) => ({
  state: 'TASK_STATE_WORKING',
  message: { messageId: text, role: 'ROLE_AGENT', parts: [{ text }] },
});

it('an artifact is the same object until it changes: one that is replaced by as many parts has changed', async () => {
  const { agent, write, close } = scripted();
  const feed = taskFeed(agent, 't');
  expect(feed.get()).toEqual({ task: undefined, connection: 'idle', error: undefined });
  const watched = watch(feed);
  const artifactsAfter = async (event: object, text: string) => {
    write(event);
    const { task } = await watched.until((value) => JSON.stringify(value).includes(text));
    return task?.artifacts ?? [];
  };
  const artifacts = [part('a', 'A'), part('b', 'B')];
  const first = await artifactsAfter(
    { task: { id: 't', contextId: 'c', status: status('one'), artifacts } },
    'B',
  );
  const update = (artifact: Artifact, append: boolean) => ({
    artifactUpdate: { taskId: 't', contextId: 'c', artifact, append },
  });
  const replaced = await artifactsAfter(update(part('b', 'Other'), false), 'Other');
  expect(replaced[0]).toBe(first[0]);
  expect(replaced[1]).not.toBe(first[1]);
  const grown = await artifactsAfter(update(part('a', 'More'), true), 'More');
  expect(grown[0]).not.toBe(replaced[0]);
  expect(grown[1]).toBe(replaced[1]);
  const said = await artifactsAfter(
    { statusUpdate: { taskId: 't', contextId: 'c', status: status('two') } },
    'two',
  );
  expect([said[0] === grown[0], said[1] === grown[1]]).toEqual([true, true]);
  // What was shown before is as it was.
  expect(replaced).toMatchObject([part('a', 'A'), part('b', 'Other')]);
  close();
  await watched.until(({ connection }) => connection === 'closed');
});
