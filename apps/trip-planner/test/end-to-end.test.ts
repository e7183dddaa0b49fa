import { once } from 'node:events';
import { type AgentClient, type AgentReply, connect, dataOf, textOf } from '@batonjs/client';
import { TASK_TREE, treeOf } from '@batonjs/extensions/client';
import { createAgentServer } from '@batonjs/server';
import { type Listening, listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/kit/processes.ts';
import { sampleApp } from '../../../test/support/sample-app.ts';
import { tripPlanner } from '../src/index.ts';
import type { Reserve } from '../src/reserve.ts';

type Task = NonNullable<AgentReply['task']>;

describe('alone', () => {
  const app = sampleApp('trip-planner');

  it('goes on with a whole trip after a kill, and books each part once', async () => {
    const agent = await connect(app.url);
    const stream = agent.stream('Book the whole trip to Helsinki');
    for await (const { statusUpdate } of stream)
      if (textOf(statusUpdate?.status.message).startsWith('Booking the hotel')) break;
    await app.kill();
    await app.restart();
    const { task } = await agent.follow(stream.task!).result();
    expect(textOf(task?.status.message)).toBe('Your trip to Helsinki is booked');
    expect(task?.artifacts?.map(({ name }) => name)).toEqual(['flight', 'hotel', 'snowmobile', 'spa']);
    const { tasks } = await agent.listTasks({ contextId: task!.contextId! });
    expect(tasks).toHaveLength(5);
  });

  it('books once what a killed process was booking', async () => {
    const agent = await connect(app.url);
    const { task } = await agent.send('Book a flight to Helsinki', { returnImmediately: true });
    await app.kill();
    await app.restart();
    const { task: booked } = await agent.follow(task!).result();
    expect(booked?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(booked?.artifacts).toHaveLength(1);
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  let server: Listening;
  let agent: AgentClient;
  let reserve: Reserve;
  const store = sqliteStore(':memory:');
  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    server = await listen(
      createAgentServer({
        ...tripPlanner({ reserve: (...request) => reserve(...request), self: url }),
        store,
        timeouts: { cancelGraceMs: 100 },
      }),
      { port },
    );
    agent = await connect(server.url, { binding });
  });
  beforeEach(() => {
    reserve = async ({ kind }) => `CODE-${kind}`;
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  /** The context of a conversation in which a place was named. */
  async function negotiate(place: string): Promise<string> {
    const { message } = await agent.send(`Can you arrange a trip to ${place}?`);
    expect(textOf(message)).toMatch(`In ${place} I can book`);
    return message!.contextId!;
  }

  it('books hotel and snowmobile at the same time, each referring to the flight [R-CTX-09]', async () => {
    const both = Promise.withResolvers<void>();
    const under = new Set<string>();
    reserve = async ({ kind }) => {
      if (kind === 'hotel' || kind === 'snowmobile') {
        under.add(kind);
        if (under.size === 2) both.resolve();
        // Neither ends before the other has begun: one after the other would wait forever.
        await both.promise;
      }
      return `CODE-${kind}`;
    };
    const contextId = await negotiate('Helsinki');
    const book = async (text: string, ...references: Task[]) =>
      (await agent.send(text, { contextId, references })).task!;
    const flight = await book('Book a flight');
    const [hotel, snowmobile] = await Promise.all([
      book('Book a hotel', flight),
      book('Book a snowmobile activity', flight),
    ]);
    const spa = await book('Add a spa reservation to the hotel booking', hotel);
    const bookings = [flight, hotel, snowmobile, spa];
    expect(bookings.map((task) => task.contextId)).toEqual(Array(4).fill(contextId));
    expect(new Set(bookings.map(({ id }) => id)).size).toBe(4);
    const [first, second, third, fourth] = bookings;
    const references = bookings.map(({ history }) => history?.[0]?.referenceTaskIds);
    expect(references).toEqual([undefined, [first!.id], [first!.id], [second!.id]]);
    expect(third!.artifacts?.[0]?.parts[1]).toMatchObject({
      data: { place: 'Helsinki', basedOn: { taskId: first!.id } },
    });
    expect(fourth!.artifacts?.[0]?.parts[1]).toMatchObject({ data: { basedOn: { taskId: second!.id } } });
  });

  it('books a whole trip as one task, with a child for each booking', async () => {
    const agent = await connect(server.url, { binding, extensions: [TASK_TREE] });
    const { task } = await agent.send('Book the whole trip to Helsinki');
    expect(textOf(task?.status.message)).toBe('Your trip to Helsinki is booked');
    const children = treeOf(task!)?.children.map(({ name, state }) => [name, state]);
    const kinds = ['flight', 'hotel', 'snowmobile', 'spa'];
    expect(new Map(children as [string, string][])).toEqual(
      new Map(kinds.map((kind) => [kind, 'TASK_STATE_COMPLETED'])),
    );
    const bookings = task!.artifacts!.map(({ name, parts }) => [
      name,
      Object(dataOf({ parts })).basedOn?.artifactId,
    ]);
    expect(bookings).toEqual([
      ['flight', undefined],
      ['hotel', 'flight'],
      ['snowmobile', 'flight'],
      ['spa', 'hotel'],
    ]);
  });

  it('cancels the bookings of a trip with the trip', async () => {
    const underway = Promise.withResolvers<void>();
    reserve = async (_, signal) => {
      underway.resolve();
      await once(signal, 'abort');
      throw signal.reason;
    };
    const { task } = await agent.send('Book the whole trip to Lisbon', { returnImmediately: true });
    await underway.promise;
    expect((await agent.cancelTask({ id: task!.id })).status.state).toBe('TASK_STATE_CANCELED');
    const { tasks } = await agent.listTasks({ contextId: task!.contextId! });
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
  });

  it('asks about a flight of another user, or one that does not exist', async () => {
    const { task } = await agent.send('Book a hotel', { references: ['nobody'] });
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(task?.status.message)).toMatch(/^I do not know nobody\./);
  });

  it('answers only with the task once there is one', async () => {
    const { task: asking } = await agent.send('Book a flight');
    expect(asking?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const { task, message } = await agent.send('What is possible?', { task: asking });
    expect(message).toBeUndefined();
    expect(task).toMatchObject({ id: asking!.id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
  });
});
