import { type AgentClient, connect, dataOf, type GraphEvent, TaskGraph, textOf } from '@batonjs/client';
import {
  artifact,
  canceled,
  completed,
  createAgentServer,
  data,
  failed,
  inputRequired,
  type Turn,
  working,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { afterEach, describe, expect, it } from 'vitest';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { collect, failureOf } from '../serve.ts';

/** The messages that the agent received, and the gates that delay its answers. */
const gates = new Map<string, { open: () => void; opened: Promise<void> }>();
const gate = (word: string) => {
  const known = gates.get(word);
  if (known) return known;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const made = { open, opened };
  gates.set(word, made);
  return made;
};

async function* travel({ text, references, contextId, signal }: Turn) {
  const [verb = '', what = ''] = text.split(' ');
  yield working(`${text} in ${contextId}`);
  if (verb === 'wait') {
    const aborted = untilAborted(signal);
    await Promise.race([gate(what).opened, aborted]);
  }
  if (signal.aborted) yield canceled();
  else if (verb === 'fail') yield failed('Sold out');
  else if (verb === 'ask') yield inputRequired('When?');
  else {
    const after = (await references()).tasks.map(({ id }) => id);
    yield artifact('result', data({ what: text, after }));
    yield completed();
  }
}

const servers = new Set<ReturnType<typeof createAgentServer>>();
afterEach(async () => {
  for (const { open } of gates.values()) open();
  gates.clear();
  for (const server of servers) await server.close({ graceMs: 0 });
  servers.clear();
});

async function agency(): Promise<AgentClient> {
  const card = { name: 'Agency', description: 'Books', version: '1.0.0', skills: [] };
  const server = createAgentServer({ card, agent: travel, store: memoryStore() });
  servers.add(server);
  return connect('http://localhost', { fetch: server.fetch });
}

const statesOf = (events: readonly GraphEvent[], step: string) => [
  ...new Set(events.filter((event) => event.step === step).map(({ state }) => state)),
];

/** Reads a graph until an event matches. */
async function readUntil(graph: TaskGraph, done: (event: GraphEvent) => boolean): Promise<void> {
  const events = graph[Symbol.asyncIterator]();
  for (let next = await events.next(); !next.done; next = await events.next()) if (done(next.value)) return;
}

describe('a graph of tasks [R-CTX-09]', () => {
  it('does the Helsinki trip: 2 and 3 in parallel after 1, and 4 after 2, all in one context', async () => {
    const agent = await agency();
    const graph = new TaskGraph(agent, {
      flight: { send: 'book flight' },
      hotel: { send: 'wait hotel', after: ['flight'] },
      tour: { send: 'wait tour', after: ['flight'] },
      upgrade: { send: ({ hotel }) => `upgrade ${hotel?.task?.status.state}`, after: ['hotel'] },
    });
    const running = new Set<string>();
    const events: GraphEvent[] = [];
    for await (const event of graph) {
      events.push(event);
      if (event.event?.statusUpdate) running.add(event.step);
      // Both continue only when both wait at the same time.
      if (running.has('hotel') && running.has('tour')) {
        gate('hotel').open();
        gate('tour').open();
      }
    }
    const replies = await graph.result();
    const tasks = Object.fromEntries(Object.entries(replies).map(([name, { task }]) => [name, task!]));
    expect(Object.keys(tasks).sort()).toEqual(['flight', 'hotel', 'tour', 'upgrade']);
    expect(new Set(Object.values(tasks).map(({ contextId }) => contextId))).toEqual(
      new Set([graph.contextId]),
    );
    const resultOf = (name: string) => dataOf(tasks[name]?.artifacts?.[0]);
    expect(resultOf('hotel')).toEqual({ what: 'wait hotel', after: [tasks.flight?.id] });
    expect(resultOf('upgrade')).toEqual({ what: 'upgrade TASK_STATE_COMPLETED', after: [tasks.hotel?.id] });
    expect(statesOf(events, 'upgrade')).toEqual(['running', 'done']);
    expect(graph.progress).toEqual({ done: 4, total: 4 });
    const order = events.map(({ step, state }) => `${step} ${state}`);
    expect(order.indexOf('upgrade running')).toBeGreaterThan(order.indexOf('hotel done'));
    expect(order.indexOf('hotel running')).toBeGreaterThan(order.indexOf('flight done'));
  });

  it('keeps tasks that depend on nothing in one context too [R-SEED-18]', async () => {
    const agent = await agency();
    const graph = new TaskGraph(agent, {
      a: { send: 'book a' },
      b: { send: 'book b' },
      c: { send: 'book c' },
    });
    const replies = await graph.result();
    expect(new Set(Object.values(replies).map(({ task }) => task?.contextId)).size).toBe(1);
  });

  it('goes on in the context that it is given', async () => {
    const agent = await agency();
    const { task } = await agent.send('book flight');
    const graph = new TaskGraph(agent, { hotel: { send: 'book hotel' } }, { contextId: task!.contextId });
    expect((await graph.result()).hotel?.task?.contextId).toBe(task?.contextId);
  });

  it('cancels what runs and skips what waits when a step fails', async () => {
    const agent = await agency();
    const graph = new TaskGraph(agent, {
      flight: { send: 'book flight' },
      hotel: { send: 'wait hotel', after: ['flight'] },
      tour: { send: () => gate('started').opened.then(() => 'fail tour'), after: ['flight'] },
      upgrade: { send: 'upgrade', after: ['hotel'] },
    });
    const events: GraphEvent[] = [];
    const reading = async () => {
      for await (const event of graph) {
        events.push(event);
        if (event.step === 'hotel' && event.event?.statusUpdate) gate('started').open();
      }
    };
    const error = await failureOf(reading());
    expect(error).toMatchObject({ code: 'STEP_FAILED' });
    expect(error.message).toBe('Step "tour" failed: Sold out');
    expect(graph.states).toEqual({ flight: 'done', hotel: 'canceled', tour: 'failed', upgrade: 'skipped' });
    const hotel = events.find(({ step, task }) => step === 'hotel' && task)?.task;
    expect((await agent.task(hotel!).get()).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('cancels a task too that it hears of only after another step has failed', async () => {
    const card = { name: 'Agency', description: 'Books', version: '1.0.0', skills: [] };
    const server = createAgentServer({ card, agent: travel, store: memoryStore() });
    servers.add(server);
    const agent = await connect('http://localhost', {
      fetch: async (request) => {
        const isLate = request.method === 'POST' && (await request.clone().text()).includes('wait late');
        const response = await server.fetch(request);
        if (isLate) await gate('failed').opened;
        return response;
      },
    });
    const steps = { late: { send: 'wait late' }, tour: { send: 'fail tour' } };
    const graph = new TaskGraph(agent, steps, { contextId: 'c-trip' });
    const reading = async () => {
      for await (const { state } of graph) if (state === 'failed') gate('failed').open();
    };
    expect((await failureOf(reading())).code).toBe('STEP_FAILED');
    expect(graph.states).toEqual({ late: 'canceled', tour: 'failed' });
    const { tasks } = await agent.listTasks({ contextId: 'c-trip' });
    expect(tasks.map(({ status }) => status.state).sort()).toEqual([
      'TASK_STATE_CANCELED',
      'TASK_STATE_FAILED',
    ]);
  });

  it('answers questions, and fails where it has no answer', async () => {
    const agent = await agency();
    const answered = new TaskGraph(agent, {
      a: { send: 'ask flight', answer: (task) => `book ${textOf(task.status.message)}` },
    });
    expect(dataOf((await answered.result()).a?.task?.artifacts?.[0])).toMatchObject({ what: 'book When?' });
    const silent = new TaskGraph(agent, { a: { send: 'ask flight' } });
    expect((await failureOf(silent.result())).message).toContain('When?');
  });

  it('asks other agents too, in contexts of their own', async () => {
    const [agent, other] = [await agency(), await agency()];
    const graph = new TaskGraph(agent, {
      flight: { send: 'book flight' },
      insurance: { send: 'book insurance', agent: other, after: ['flight'] },
    });
    const { flight, insurance } = await graph.result();
    expect(insurance?.task?.contextId).not.toBe(flight?.task?.contextId);
    expect(dataOf(insurance?.task?.artifacts?.[0])).toMatchObject({ after: [] });
  });

  it('leaves the tasks alone when its loop is left', async () => {
    const agent = await agency();
    const graph = new TaskGraph(agent, { a: { send: 'wait a' }, b: { send: 'book b', after: ['a'] } });
    let id = '';
    for await (const { event, task } of graph) {
      id = task?.id ?? '';
      if (event?.statusUpdate) break;
    }
    expect((await agent.task(id).get()).status.state).toBe('TASK_STATE_WORKING');
    gate('a').open();
    expect((await agent.follow(id).result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(graph.states).toMatchObject({ b: 'waiting' });
    expect(await collect(graph)).toEqual([]);
  });

  it('cancels everything by signal', async () => {
    const agent = await agency();
    const leaving = new AbortController();
    const graph = new TaskGraph(
      agent,
      { a: { send: 'wait a' }, b: { send: 'book b', after: ['a'] } },
      { signal: leaving.signal },
    );
    let id = '';
    await readUntil(graph, ({ event, task }) => {
      id = task?.id ?? '';
      return event?.statusUpdate !== undefined;
    });
    leaving.abort();
    expect((await failureOf(graph.result())).code).toBe('ABORTED');
    expect(graph.states).toEqual({ a: 'canceled', b: 'skipped' });
    expect((await agent.task(id).get()).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('refuses steps that depend on each other, or on a missing step', async () => {
    const agent = await agency();
    const circle = { a: { send: 'a', after: ['b'] }, b: { send: 'b', after: ['a'] } };
    expect(() => new TaskGraph(agent, circle)).toThrow(/a → b → a/);
    expect(() => new TaskGraph(agent, { a: { send: 'a', after: ['z'] } })).toThrow(/"z"/);
  });
});
