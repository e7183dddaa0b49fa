import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import {
  bothBindings,
  breaks,
  chunk,
  collect,
  type Exchange,
  ends,
  failureOf,
  freePort,
  peer,
  statusOf,
  stays,
  stop,
  taskIn,
  virtualClock,
} from '../serve.ts';

/** The shortest possible pauses. */
const quick = { retry: { firstMs: 1, longestMs: 20 } };

/** A peer that answers one exchange after the other. */
const script = (...answers: ((exchange: Exchange) => unknown)[]) => {
  let next = 0;
  return peer((exchange) =>
    (answers[next++] ?? (({ error }) => error(new A2AError('INTERNAL_ERROR'))))(exchange),
  );
};

/** The positions that were asked for. */
const positionsOf = ({ headers }: Pick<Awaited<ReturnType<typeof peer>>, 'headers'>) =>
  headers.map((each) => each['last-event-id']);

const operationsOf = ({ calls }: { calls: readonly { operation: string }[] }) =>
  calls.map(({ operation }) => operation);

describe.each(['JSONRPC', 'HTTP+JSON'])('following on %s', (binding) => {
  const options = { ...quick, binding };

  it('continues after the last event when the connection breaks in the middle of one [R-SSE-03, R-SSE-04]', async () => {
    const server = await script(
      ({ event, response, destroy }) => {
        event({ task: taskIn('WORKING') }, 'log.1');
        event(chunk('one ', false), 'log.2');
        response.write('id: log.3\ndata: {"artifactUpd', destroy);
      },
      ends([chunk('two'), 'log.3'], [statusOf('COMPLETED'), 'log.4']),
    );
    const agent = await connect(server.url, options);
    const stream = agent.stream('hello');
    const events = await collect(stream);
    expect(events).toEqual([
      { task: taskIn('WORKING') },
      chunk('one ', false),
      chunk('two'),
      statusOf('COMPLETED'),
    ]);
    expect(stream.task).toEqual(
      taskIn('COMPLETED', { artifacts: [{ artifactId: 'a-1', parts: [{ text: 'one ' }, { text: 'two' }] }] }),
    );
    expect(stream.lastEventId).toBe('log.4');
    expect(operationsOf(server)).toEqual(['SendStreamingMessage', 'SubscribeToTask']);
    expect(positionsOf(server)).toEqual([undefined, 'log.2']);
  });

  it('shows an event once although the agent sends it again', async () => {
    const server = await script(
      breaks([{ task: taskIn('WORKING') }, 'log.9'], [chunk('one', false), 'log.10']),
      ends([chunk('one', false), 'log.10'], [chunk('two'), 'log.11'], [chunk('one', false), 'log.10']),
      ends([statusOf('COMPLETED'), 'log.12']),
    );
    const events = await collect((await connect(server.url, options)).stream('hello'));
    expect(events.slice(1)).toEqual([chunk('one', false), chunk('two'), statusOf('COMPLETED')]);
    expect(positionsOf(server)).toEqual([undefined, 'log.10', 'log.11']);
  });

  it('shows an event once although its position carries a mark', async () => {
    const server = await script(
      breaks([{ task: taskIn('WORKING') }, 'log.9~aa'], [chunk('one', false), 'log.10~bb']),
      ends(
        [chunk('one', false), 'log.10~bb'],
        [chunk('two'), 'log.11~0'],
        [statusOf('COMPLETED'), 'log.12~1z'],
      ),
    );
    const events = await collect((await connect(server.url, options)).stream('hello'));
    expect(events.slice(1)).toEqual([chunk('one', false), chunk('two'), statusOf('COMPLETED')]);
    expect(positionsOf(server)).toEqual([undefined, 'log.10~bb']);
  });

  it('takes a task event that does not follow as the whole truth, even from another or a shorter log', async () => {
    const replaced = taskIn('WORKING', { artifacts: [{ artifactId: 'a-2', parts: [{ text: 'new' }] }] });
    const server = await script(
      breaks([{ task: taskIn('WORKING') }, 'log.1'], [chunk('old', false), 'log.50']),
      breaks([{ task: taskIn('WORKING') }, 'log.7']),
      breaks([{ task: replaced }, 'other.3']),
      ends([statusOf('COMPLETED'), 'other.4']),
    );
    const stream = (await connect(server.url, options)).stream('hello');
    expect(await collect(stream)).toHaveLength(5);
    expect(stream.task).toEqual({ ...replaced, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(positionsOf(server)).toEqual([undefined, 'log.50', 'log.7', 'other.3']);
  });

  it('uses the snapshot of an agent that gives no positions, and shows one that says nothing new only once', async () => {
    const later = taskIn('WORKING', { artifacts: [{ artifactId: 'a-1', parts: [{ text: 'one' }] }] });
    const server = await script(
      breaks([{ task: taskIn('WORKING') }]),
      breaks([{ task: taskIn('WORKING') }]),
      ends([{ task: later }], [statusOf('COMPLETED')]),
    );
    const events = await collect((await connect(server.url, options)).stream('hello'));
    expect(events).toEqual([{ task: taskIn('WORKING') }, { task: later }, statusOf('COMPLETED')]);
    expect(positionsOf(server)).toEqual([undefined, undefined, undefined]);
  });

  it('takes a stream that ends without reason for a broken one [R-SSE-04]', async () => {
    const server = await script(
      ends([{ task: taskIn('WORKING') }, 'log.1']),
      ends([statusOf('COMPLETED'), 'log.2']),
    );
    const events = await collect((await connect(server.url, options)).stream('hello'));
    expect(events).toHaveLength(2);
  });

  it('reads the task when it ended while no stream was open [R-SUB-02]', async () => {
    const server = await script(
      breaks([{ task: taskIn('WORKING') }]),
      ({ error }) => error(new A2AError('UNSUPPORTED_OPERATION')),
      ({ result }) => result(taskIn('COMPLETED')),
    );
    const events = await collect((await connect(server.url, options)).stream('hello'));
    expect(events).toEqual([{ task: taskIn('WORKING') }, { task: taskIn('COMPLETED') }]);
    expect(operationsOf(server)).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask']);
  });

  it('polls when the agent turns out not to stream [R-SEED-23]', async () => {
    const answers = ['WORKING', 'WORKING', 'WORKING', 'COMPLETED'];
    const server = await peer(({ call, error, result }) =>
      call.operation === 'GetTask'
        ? result(taskIn(answers.shift()!))
        : error(new A2AError('UNSUPPORTED_OPERATION')),
    );
    const agent = await connect(server.url, options);
    const events = await collect(agent.follow('t-1', { pollMs: 1 }));
    expect(events).toEqual([{ task: taskIn('WORKING') }, { task: taskIn('COMPLETED') }]);
    expect(operationsOf(server)).toEqual(['SubscribeToTask', 'GetTask', 'GetTask', 'GetTask', 'GetTask']);
  });

  it('does not ask for a stream that the card does not offer [R-OP-07]', async () => {
    const answers = ['SUBMITTED', 'WORKING', 'COMPLETED'];
    const server = await peer(
      ({ call, result }) => {
        const task = taskIn(answers.shift()!);
        result(call.operation === 'GetTask' ? task : { task });
      },
      { card: (url) => bothBindings(url, { capabilities: {} }) },
    );
    const stream = (await connect(server.url, options)).stream('hello', { pollMs: 1 });
    expect(await stream.result()).toEqual({ task: taskIn('COMPLETED') });
    expect(operationsOf(server)).toEqual(['SendMessage', 'GetTask', 'GetTask']);
    expect(server.calls[0]?.params).toMatchObject({ configuration: { returnImmediately: true } });
  });

  it('survives a restart of the server that takes more attempts than other calls have', async () => {
    const port = await freePort();
    const first = await peer(
      ({ event }) => {
        event({ task: taskIn('WORKING') }, 'log.1');
      },
      { port },
    );
    const comeBack = () => peer(ends([statusOf('COMPLETED'), 'log.2']), { port });
    let failures = 0;
    const agent = await connect(first.url, {
      ...options,
      fetch: async (request) => {
        if (failures === 10) await comeBack();
        return fetch(request).catch((error) => {
          failures += 1;
          throw error;
        });
      },
    });
    const events: unknown[] = [];
    for await (const event of agent.stream('hello')) {
      events.push(event);
      if (events.length === 1) await stop(first.server);
    }
    expect(events).toEqual([{ task: taskIn('WORKING') }, statusOf('COMPLETED')]);
    expect(failures).toBe(10);
  });

  it('continues after the last position although a stream in between, with nothing new, gave none', async () => {
    const server = await script(
      breaks([{ task: taskIn('WORKING') }, 'log.1']),
      breaks([{ task: taskIn('WORKING') }]),
      ends([statusOf('COMPLETED'), 'log.2']),
    );
    const stream = (await connect(server.url, options)).stream('hello');
    expect(await collect(stream)).toHaveLength(2);
    expect(positionsOf(server)).toEqual([undefined, 'log.1', 'log.1']);
  });

  it('does not continue after a position that a later read of the task has passed', async () => {
    const later = taskIn('WORKING', { artifacts: [{ artifactId: 'a-1', parts: [{ text: 'one' }] }] });
    const server = await script(
      ({ end }) => end(),
      ({ result }) => result(later),
      ends([{ task: { ...later, status: { state: 'TASK_STATE_COMPLETED' } } }, 'log.9']),
    );
    const agent = await connect(server.url, options);
    await collect(agent.follow('t-1', { lastEventId: 'log.3', pollMs: 1 }));
    expect(operationsOf(server)).toEqual(['SubscribeToTask', 'GetTask', 'SubscribeToTask']);
    expect(positionsOf(server)).toEqual(['log.3', undefined, undefined]);
  });

  it('has the whole task as its result, also if it began in the middle', async () => {
    const whole = taskIn('COMPLETED', {
      artifacts: [{ artifactId: 'a-1', parts: [{ text: '1' }, { text: '2' }] }],
    });
    const server = await script(ends([chunk('2'), 'log.7'], [statusOf('COMPLETED'), 'log.8']), ({ result }) =>
      result(whole),
    );
    const agent = await connect(server.url, options);
    expect(await agent.follow('t-1', { lastEventId: 'log.6' }).result()).toEqual({ task: whole });
  });

  it('waits for an agent that leaves right after the last event, as long as a stream waits', async () => {
    const whole = taskIn('COMPLETED');
    const gone = ({ destroy }: Exchange) => destroy();
    const server = await script(
      ends([statusOf('COMPLETED'), 'log.8']),
      ...Array.from({ length: 12 }, () => gone),
      ({ result }) => result(whole),
    );
    const agent = await connect(server.url, options);
    expect(await agent.follow('t-1', { lastEventId: 'log.6' }).result()).toEqual({ task: whole });
    const left = await script(
      ends([statusOf('COMPLETED'), 'log.8']),
      ...Array.from({ length: 100 }, () => gone),
    );
    const brief = (await connect(left.url, options)).follow('t-1', { lastEventId: 'log.6', followForMs: 50 });
    const error = await failureOf(brief.result());
    expect(error).toMatchObject({ code: 'NETWORK' });
    expect(error.message).toContain("go on later with follow('t-1')");
  });

  it('does not give up on a task that reports something now and then', async () => {
    let number = 0;
    const server = await peer(({ event, destroy, response }) => {
      number += 1;
      if (number === 1) event({ task: taskIn('WORKING') }, 'log.1');
      else if (number < 20) event(chunk(String(number)), `log.${number}`);
      else event(statusOf('COMPLETED'), `log.${number}`);
      response.write(': bye\n\n', destroy);
    });
    const agent = await connect(server.url, {
      ...options,
      clock: virtualClock().clock,
      followForMs: 15,
      timeoutMs: 0,
    });
    expect(await collect(agent.follow('t-1', { idleTimeoutMs: 0 }))).toHaveLength(20);
  });

  it('does not count connections that lasted, although nothing new came', async () => {
    let now = 0;
    let number = 0;
    const server = await peer(({ event, destroy, response }) => {
      number += 1;
      now += 60_000;
      event(number < 20 ? { task: taskIn('WORKING') } : statusOf('COMPLETED'), `log.${number}`);
      response.write(': bye\n\n', destroy);
    });
    const agent = await connect(server.url, { ...options, followForMs: 61_000, clock: { now: () => now } });
    expect(await collect(agent.follow('t-1'))).toHaveLength(2);
  });

  it('polls less and less often while nothing changes', async () => {
    const answers = ['WORKING', 'WORKING', 'WORKING', 'INPUT_REQUIRED', 'INPUT_REQUIRED', 'COMPLETED'];
    const server = await peer(({ result }) => result(taskIn(answers.shift()!)), {
      card: (url) => bothBindings(url, { capabilities: {} }),
    });
    const pauses: number[] = [];
    const clock = { sleep: async (ms: number) => void pauses.push(ms) };
    const agent = await connect(server.url, { ...options, clock, timeoutMs: 0 });
    await collect(agent.follow('t-1', { pollMs: 100 }));
    expect(pauses).toEqual([100, 150, 225, 100, 150]);
  });

  it('ends with the error of a task that is gone', async () => {
    const server = await script(
      breaks([{ task: taskIn('WORKING') }, 'log.1']),
      ({ error }) => error(new A2AError('TASK_NOT_FOUND')),
      ({ error }) => error(new A2AError('TASK_NOT_FOUND')),
    );
    const error = await failureOf(collect((await connect(server.url, options)).stream('hello')));
    expect(error.reason).toBe('TASK_NOT_FOUND');
  });

  it('goes on after an error in the stream that may pass, and ends with one that does not [R-STR-12]', async () => {
    const server = await script(
      ({ event, error }) => {
        event({ task: taskIn('WORKING') }, 'log.1');
        error(new A2AError('UNAVAILABLE'));
      },
      ({ event, error }) => {
        event(chunk('one', false), 'log.2');
        error(new A2AError('INTERNAL_ERROR'));
      },
    );
    const stream = (await connect(server.url, options)).stream('hello');
    expect((await failureOf(collect(stream))).reason).toBe('INTERNAL_ERROR');
    expect(stream.lastEventId).toBe('log.2');
  });

  it('continues in another process from a position that was kept', async () => {
    const server = await script(ends([statusOf('COMPLETED'), 'log.8']));
    const stream = (await connect(server.url, options)).follow('t-1', { lastEventId: 'log.7' });
    expect(await collect(stream)).toEqual([statusOf('COMPLETED')]);
    expect(server.headers[0]?.['last-event-id']).toBe('log.7');
  });

  it('reads a task whose stream has no events left', async () => {
    const server = await script(
      ({ end }) => end(),
      ({ result }) => result(taskIn('COMPLETED')),
    );
    const stream = (await connect(server.url, options)).follow('t-1', { lastEventId: 'log.9' });
    expect(await collect(stream)).toEqual([{ task: taskIn('COMPLETED') }]);
  });

  it('drops a connection on which nothing is heard, and makes another', async () => {
    const server = await script(
      ({ event }) => event({ task: taskIn('WORKING') }, 'log.1'),
      ends([statusOf('COMPLETED'), 'log.2']),
    );
    // Only the first connection is silent for too long, however long the events of the second one take.
    const clock = {
      sleep: (ms: number) => (ms === 40 && server.calls.length > 1 ? new Promise<void>(() => {}) : pause(ms)),
    };
    const agent = await connect(server.url, { ...options, clock });
    expect(await collect(agent.stream('hello', { idleTimeoutMs: 40 }))).toHaveLength(2);
  });

  it('does not wait forever where not even heartbeats are heard', async () => {
    const server = await script(
      ({ event }) => event({ task: taskIn('WORKING') }, 'log.1'),
      ends([statusOf('COMPLETED'), 'log.2']),
    );
    let silences = 0;
    const clock = {
      sleep: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          signal?.addEventListener('abort', () => resolve());
          if (ms < 1_000 || (ms === 120_000 && silences++ === 1)) resolve();
        }),
    };
    const stream = (await connect(server.url, { ...options, clock })).stream('hello');
    expect(await collect(stream)).toHaveLength(2);
  });

  it('ends with ABORTED when the caller leaves by signal, also while it waits', async () => {
    const server = await peer(breaks([{ task: taskIn('WORKING') }, 'log.1']));
    const leaving = new AbortController();
    const clock = {
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          signal?.addEventListener('abort', () => resolve());
          leaving.abort(new Error('enough'));
        }),
    };
    const agent = await connect(server.url, { ...options, clock, timeoutMs: 0 });
    const error = await failureOf(collect(agent.follow('t-1', { signal: leaving.signal, idleTimeoutMs: 0 })));
    expect(error).toMatchObject({ code: 'ABORTED', cause: { message: 'enough' } });
  });

  it('closes the connection when the loop is left [R-STR-06]', async () => {
    let closed: () => void;
    const wasClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await peer(({ event, response }) => {
      response.on('close', () => closed());
      event({ task: taskIn('WORKING') }, 'log.1');
    });
    for await (const _ of (await connect(server.url, options)).follow('t-1')) break;
    await wasClosed;
    expect(operationsOf(server)).toEqual(['SubscribeToTask']);
  });
});

describe('the stream of a message', () => {
  it('ends with a message, and gives it as its result', async () => {
    const message = { messageId: 'm-1', role: 'ROLE_AGENT', parts: [{ text: 'Hello' }] };
    const server = await script(ends([{ message }]));
    expect(await (await connect(server.url, quick)).stream('hi').result()).toEqual({ message });
  });

  const [working, asks] = [{ task: taskIn('WORKING') }, statusOf('INPUT_REQUIRED')];
  const waits = { task: taskIn('INPUT_REQUIRED') };

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, answer: (exchange: Exchange) => void, task: string | undefined, events: number, state: string]>([
    ['an agent that gives positions closes it at a question', ends([working, 'log.1'], [asks, 'log.2']), undefined, 2, 'INPUT_REQUIRED'],
    ['the connection breaks at a question, before it is closed', breaks([working, 'log.1'], [asks, 'log.2']), undefined, 2, 'INPUT_REQUIRED'],
    ['there is a question, although the agent keeps it open [R-STR-07]', stays([working], [asks]), undefined, 2, 'INPUT_REQUIRED'],
    ['a message to a running task is answered', ends([working, 'log.5'], [asks, 'log.6'], [statusOf('WORKING'), 'log.7'], [asks, 'log.8']), 't-1', 4, 'INPUT_REQUIRED'],
    ['the connection breaks after a question, which is taken for the answer', breaks([working, 'log.5'], [asks, 'log.6']), 't-1', 2, 'INPUT_REQUIRED'],
    ['there is a question after positions, although the agent keeps it open', stays([waits, 'log.5'], [statusOf('WORKING'), 'log.6'], [asks, 'log.7']), 't-1', 3, 'INPUT_REQUIRED'],
    ['the work is done, and not at the question that the message answers [R-STR-10]', stays([waits], [statusOf('WORKING')], [statusOf('COMPLETED')]), 't-1', 3, 'COMPLETED'],
  ])('ends when %s', async (_what, answer, task, events, state) => {
    const server = await script(answer);
    const stream = (await connect(server.url, quick)).stream('and this', { task });
    expect(await collect(stream)).toHaveLength(events);
    expect(stream.task?.status.state).toBe(`TASK_STATE_${state}`);
    expect(server.calls).toHaveLength(1);
  });

  it('is not sent again when it breaks before anything was heard, unless the agent recognises it [R-SEED-13]', async () => {
    const server = await peer(({ destroy }) => destroy());
    const agent = await connect(server.url, quick);
    expect((await failureOf(agent.stream('hi').result())).code).toBe('NETWORK');
    expect(server.calls).toHaveLength(1);
  });

  it('is sent again, the same, to an agent that recognises it [R-SEED-13, R-IDEM-03]', async () => {
    const extensions = [{ uri: 'https://batonjs.dev/extensions/idempotency/v1' }];
    let connections = 0;
    const server = await peer(
      ({ destroy, event, end }) => {
        if (++connections < 3) return destroy();
        event({ task: taskIn('COMPLETED') }, 'log.1');
        return end();
      },
      { card: (url) => bothBindings(url, { capabilities: { streaming: true, extensions } }) },
    );
    const { task } = await (await connect(server.url, quick)).stream('hi').result();
    expect(task?.id).toBe('t-1');
    expect(operationsOf(server)).toEqual(Array(3).fill('SendStreamingMessage'));
    expect(new Set(server.calls.map(({ params }) => JSON.stringify(params))).size).toBe(1);
    expect(server.headers[0]?.['a2a-extensions']).toContain('/idempotency/v1');
  });
});

describe('following a task that waits', () => {
  it('goes on until it ends, although the agent closes the stream [R-SSE-04]', async () => {
    const server = await script(
      ends([{ task: taskIn('INPUT_REQUIRED') }]),
      ends([{ task: taskIn('INPUT_REQUIRED') }]),
      ends([{ task: taskIn('INPUT_REQUIRED') }], [statusOf('COMPLETED')]),
    );
    const agent = await connect(server.url, { retry: { attempts: 1 } });
    const events = await collect(agent.follow('t-1', { pollMs: 1 }));
    expect(events).toEqual([{ task: taskIn('INPUT_REQUIRED') }, statusOf('COMPLETED')]);
  });
});
