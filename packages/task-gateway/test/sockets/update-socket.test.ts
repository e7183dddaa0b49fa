import { EventEmitter } from 'node:events';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WebSocket } from 'ws';
import { change } from '../../../../test/kit/faulty-store.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { taskWatches } from '../../src/sockets/task-watches.ts';
import { type SocketSettings, updateSocket } from '../../src/sockets/update-socket.ts';
import { taskLogOf } from '../../src/tasks/task-log.ts';
import type { TaskService } from '../../src/tasks/task-service.ts';
import { factsOf, writeTo } from '../rules/facts.ts';

/** A WebSocket whose network the test plays: what waits to be sent, and when it was. */
class PlayedSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  isPaused = false;
  readonly pauses: string[] = [];
  readonly frames: { event: string; taskId?: string; sequence?: number; updates?: { sequence: number }[] }[] =
    [];
  readonly #sent: (() => void)[] = [];
  closedWith: unknown[] | undefined;

  send(text: string, sent: () => void): void {
    this.frames.push(JSON.parse(text));
    this.#sent.push(sent);
  }

  close(...reason: unknown[]): void {
    this.closedWith = reason;
  }

  pause(): void {
    this.isPaused = true;
    this.pauses.push('pause');
  }

  resume(): void {
    this.isPaused = false;
    this.pauses.push('resume');
  }

  /** The network took all frames. */
  drain(): void {
    this.bufferedAmount = 0;
    for (const sent of this.#sent.splice(0)) sent();
  }

  say(frame: object): void {
    this.emit('message', Buffer.from(JSON.stringify(frame)), false);
  }
}

interface Playing {
  readonly batchMs?: number;
  readonly slowMs?: number;
  readonly subscriptions?: number;
  readonly changes?: Parameters<typeof change<TaskStore>>[1];
  readonly service?: Partial<TaskService>;
}

function playing({
  batchMs = 0,
  slowMs = 60_000,
  subscriptions = 10,
  changes = {},
  service = {},
}: Playing = {}) {
  const memory = memoryStore();
  let listeners = 0;
  const counted = change(memory as TaskStore, {
    subscribe:
      (subscribe) =>
      async (...given) => {
        listeners += 1;
        const unsubscribe = await subscribe(...given);
        return async () => {
          listeners -= 1;
          await unsubscribe();
        };
      },
  });
  const tasks = taskLogOf(change(counted, changes), 'gateway');
  const logged: unknown[][] = [];
  const logger: SocketSettings['logger'] = (...entry) => logged.push(entry);
  const socket = new PlayedSocket();
  const watches = taskWatches(tasks, logger);
  const settings = {
    service: { tasks, ...service } as TaskService,
    watches,
    logger,
    isOpen: () => true,
    subscriptions,
    slowMs,
  };
  const served = updateSocket(socket as unknown as WebSocket, { scope: 'ada' }, batchMs, settings);
  onTestFinished(() => void socket.emit('close'));
  const sequences = () =>
    socket.frames.flatMap(({ event, sequence, updates }) =>
      event === 'task_updates'
        ? updates!.map((each) => each.sequence)
        : event === 'task_update'
          ? [sequence!]
          : [],
    );
  return { tasks, watches, socket, served, logged, sequences, listeners: () => listeners };
}

const facts = factsOf(
  't',
  Array.from({ length: 300 }, () => 'WORKING'),
);
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);
const turns = async () => {
  for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a socket whose client reads', () => {
  it('gets all updates, however many', async () => {
    const { tasks, socket, sequences } = playing();
    await writeTo(tasks, 't', facts);
    socket.say({ event: 'subscribe', taskId: 't', after: 0 });
    await eventually(() => expect(sequences()).toEqual(from(2, 302)));
    expect(socket.frames[0]).toEqual({ event: 'task_update', taskId: 't', status: 'created', sequence: 2 });
  });

  it('gets the frame of an update without what only histories have', async () => {
    const { tasks, socket } = playing();
    await writeTo(tasks, 't', factsOf('t', ['COMPLETED']));
    socket.say({ event: 'subscribe', taskId: 't', after: 0, requestId: 'r' });
    await eventually(() => expect(socket.frames).toHaveLength(3));
    expect(new Set(socket.frames)).toEqual(
      new Set([
        { event: 'reply', to: 'subscribe', requestId: 'r', taskId: 't' },
        { event: 'task_update', taskId: 't', status: 'created', sequence: 2 },
        { event: 'task_update', taskId: 't', status: 'completed', result: {}, sequence: 3 },
      ]),
    );
  });

  it('is not subscribed any more after the end of a task, an unsubscribe, or its close', async () => {
    const { tasks, socket, served, listeners, sequences } = playing();
    await writeTo(tasks, 'done', factsOf('done', ['COMPLETED']));
    await writeTo(tasks, 't', facts.slice(0, 3));
    await writeTo(tasks, 'u', factsOf('u', ['WORKING']));
    expect(served.isIdle).toBe(true);
    socket.say({ event: 'subscribe', taskId: 'done', after: 0 });
    await eventually(() => expect(sequences()).toEqual([2, 3]));
    await eventually(() => expect([listeners(), served.isIdle]).toEqual([0, true]));
    for (const taskId of ['t', 'u']) socket.say({ event: 'subscribe', taskId, requestId: taskId });
    await eventually(() => expect(socket.frames.filter(({ event }) => event === 'reply')).toHaveLength(2));
    await turns();
    expect([listeners(), served.isIdle]).toEqual([2, false]);
    await eventually(() => expect(sequences()).toEqual([2, 3, 3, 3]));
    socket.say({ event: 'unsubscribe', taskId: 't', requestId: 'r' });
    await eventually(() => expect(socket.frames.at(-1)).toMatchObject({ to: 'unsubscribe' }));
    await writeTo(tasks, 't', facts.slice(3, 4), 3);
    socket.emit('close');
    await eventually(() => expect([listeners(), served.isIdle]).toEqual([0, true]));
    expect(sequences()).toEqual([2, 3, 3, 3]);
  });

  it('that subscribes again begins again, and is subscribed once', async () => {
    const { tasks, socket, listeners, sequences } = playing({ subscriptions: 1 });
    await writeTo(tasks, 't', facts.slice(0, 4));
    for (const after of [2, 0]) {
      socket.say({ event: 'subscribe', taskId: 't', after });
      await eventually(() => expect(sequences().slice(-2)).toEqual([3, 4]));
    }
    await eventually(() => expect(sequences()).toEqual([3, 4, 2, 3, 4]));
    await writeTo(tasks, 't', facts.slice(4, 5), 4);
    await eventually(() => expect(sequences()).toEqual([3, 4, 2, 3, 4, 5]));
    expect(listeners()).toBe(1);
  });

  it('may have so many subscriptions, and the one more is not kept', async () => {
    const { tasks, socket, listeners } = playing({ subscriptions: 1 });
    for (const taskId of ['t', 'u']) {
      await writeTo(tasks, taskId, factsOf(taskId, ['WORKING']));
      socket.say({ event: 'subscribe', taskId, requestId: taskId });
      await eventually(() =>
        expect(socket.frames.some((frame) => Object(frame).requestId === taskId)).toBe(true),
      );
    }
    expect(socket.frames.at(-1)).toEqual({
      event: 'error',
      requestId: 'u',
      taskId: 'u',
      error: { code: 'RESOURCE_EXHAUSTED', message: 'At most 1 subscriptions on one socket' },
    });
    expect(listeners()).toBe(1);
  });

  it('leaves nothing at a task that others watch', async () => {
    const { tasks, socket, watches } = playing();
    await writeTo(tasks, 't', facts.slice(0, 3));
    const watch = (await watches.open(tasks.addressOf('ada', 't')))!;
    onTestFinished(() => watches.close(watch));
    socket.say({ event: 'subscribe', taskId: 't', requestId: 'r' });
    await eventually(() => expect(watch.listeners.size).toBe(1));
    socket.say({ event: 'unsubscribe', taskId: 't', requestId: 'r' });
    await eventually(() => expect(watch.listeners.size).toBe(0));
  });

  it('that left while its task was read is not subscribed', async () => {
    const reading = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const { tasks, socket, served, listeners } = playing({
      changes: {
        load:
          (load) =>
          async (...given) => {
            reading.resolve();
            await gone.promise;
            return load(...given);
          },
      },
    });
    await writeTo(tasks, 't', facts.slice(0, 3));
    socket.say({ event: 'subscribe', taskId: 't', requestId: 'r' });
    await reading.promise;
    socket.readyState = 3;
    socket.emit('close');
    gone.resolve();
    await eventually(() => expect([listeners(), served.isIdle]).toEqual([0, true]));
    expect(socket.frames).toEqual([]);
  });
});

describe('a socket with batches', () => {
  it('gets what came meanwhile in one frame, and nothing after its close', async () => {
    const { tasks, socket, sequences } = playing({ batchMs: 1 });
    for (const taskId of ['t', 'u']) await writeTo(tasks, taskId, factsOf(taskId, ['WORKING']));
    for (const taskId of ['t', 'u']) socket.say({ event: 'subscribe', taskId, after: 0 });
    await eventually(() => expect(sequences().sort()).toEqual([2, 2, 3, 3]));
    expect(new Set(socket.frames.map(({ event }) => event))).toEqual(new Set(['task_updates']));
    await writeTo(tasks, 't', facts.slice(3, 5), 3);
    await eventually(() => expect(sequences().at(-1)).toBe(5));
    expect(socket.frames.at(-1)?.updates?.map(({ sequence }) => sequence)).toEqual([4, 5]);
    socket.emit('close');
    await writeTo(tasks, 't', facts.slice(5, 6), 5);
    await turns();
    expect(sequences().at(-1)).toBe(5);
  });

  it('gets all of more updates than one read has', async () => {
    const { tasks, socket, sequences } = playing({ batchMs: 1 });
    await writeTo(tasks, 't', facts);
    socket.say({ event: 'subscribe', taskId: 't', after: 0 });
    await eventually(() => expect(sequences()).toEqual(from(2, 302)));
  });
});

describe('a socket whose client does not read', () => {
  it.each([0, 1])(
    'is sent nothing more, and goes on with all when it reads again, with batchMs %i',
    async (batchMs) => {
      const { tasks, socket, sequences } = playing({ batchMs });
      await writeTo(tasks, 't', facts.slice(0, 3));
      socket.say({ event: 'subscribe', taskId: 't' });
      await eventually(() => expect(sequences()).toEqual([3]));
      socket.bufferedAmount = 65_536;
      await writeTo(tasks, 't', facts.slice(3, 6), 3);
      await turns();
      expect(sequences()).toEqual([3]);
      socket.drain();
      await eventually(() => expect(sequences()).toEqual([3, 4, 5, 6]));
      socket.bufferedAmount = 65_535;
      await writeTo(tasks, 't', facts.slice(6, 7), 6);
      await eventually(() => expect(sequences()).toEqual([3, 4, 5, 6, 7]));
    },
  );

  it('for longer than `slowMs` gets the latest update only', async () => {
    const { tasks, socket, sequences } = playing({ slowMs: -1 });
    await writeTo(tasks, 't', facts.slice(0, 3));
    socket.say({ event: 'subscribe', taskId: 't' });
    await eventually(() => expect(sequences()).toEqual([3]));
    socket.bufferedAmount = 65_536;
    await writeTo(tasks, 't', facts.slice(3, 9), 3);
    await turns();
    socket.drain();
    await eventually(() => expect(sequences()).toEqual([3, 9]));
    // It reads again by now.
    await writeTo(tasks, 't', facts.slice(9, 11), 9);
    await eventually(() => expect(sequences()).toEqual([3, 9, 10, 11]));
  });

  it('in the middle of several tasks gets the others when it reads again', async () => {
    const { tasks, socket, sequences } = playing();
    const ids = ['t', 'u', 'v'];
    for (const taskId of ids) await writeTo(tasks, taskId, factsOf(taskId, ['WORKING']));
    const send = socket.send.bind(socket);
    socket.send = (text, sent) => {
      send(text, sent);
      socket.bufferedAmount = 65_536;
    };
    for (const taskId of ids) socket.say({ event: 'subscribe', taskId });
    await eventually(() => expect(sequences()).toHaveLength(1));
    await turns();
    expect(sequences()).toHaveLength(1);
    socket.drain();
    await eventually(() => expect(sequences()).toHaveLength(2));
    socket.drain();
    await eventually(() => expect(sequences()).toEqual([3, 3, 3]));
  });
});

describe('what a socket says', () => {
  it.each<[object, object]>([
    [
      { event: 'x', taskId: 't', requestId: 'r' },
      { requestId: 'r', taskId: 't' },
    ],
    [{ event: 'x', taskId: 'x'.repeat(256) }, { taskId: 'x'.repeat(256) }],
    [{ event: 'x', taskId: 'x'.repeat(257) }, {}],
    [{ event: 'x', taskId: 7, requestId: 7 }, {}],
  ])('is refused with its ids: %j', async (frame, ids) => {
    const { socket, logged } = playing();
    socket.say(frame);
    const error = { code: 'INVALID_REQUEST', message: expect.stringContaining('`event` is one of') };
    expect(socket.frames).toEqual([{ event: 'error', ...ids, error }]);
    expect(logged).toEqual([]);
  });

  it('and fails inside is told to the operator, and the client is told nothing', async () => {
    const failure = new Error('secret');
    const { socket, logged } = playing({ service: { cancel: () => Promise.reject(failure) } });
    socket.say({ event: 'cancel', taskId: 't' });
    await eventually(() => expect(socket.frames).toHaveLength(1));
    expect(socket.frames).toEqual([
      { event: 'error', taskId: 't', error: { code: 'INTERNAL_ERROR', message: 'Internal error' } },
    ]);
    expect(logged).toEqual([['error', 'A request over a WebSocket failed', { err: failure }]]);
  });

  it('beyond 32 requests waits, also in the network, and is forgotten at its close', async () => {
    const held: (() => void)[] = [];
    let begun = 0;
    const cancel = () => {
      begun += 1;
      return new Promise<never>((resolve) => held.push(resolve as () => void));
    };
    const { socket } = playing({ service: { cancel } });
    for (let n = 0; n < 32; n += 1) socket.say({ event: 'cancel', taskId: `t${n}` });
    expect([begun, socket.pauses]).toEqual([32, []]);
    for (let n = 0; n < 3; n += 1) socket.say({ event: 'cancel', taskId: `u${n}` });
    expect([begun, socket.pauses[0]]).toEqual([32, 'pause']);
    for (const let_ of [1, 2]) {
      held.shift()!();
      await eventually(() => expect(begun).toBe(32 + let_));
    }
    expect(socket.isPaused).toBe(true);
    socket.emit('close');
    held.shift()!();
    await eventually(() => expect(socket.isPaused).toBe(false));
    expect(begun).toBe(34);
    socket.readyState = 3;
    const { length } = socket.frames;
    for (const end of held) end();
    await turns();
    expect([socket.frames.length, socket.pauses]).toEqual([length, ['pause', 'pause', 'pause', 'resume']]);
  });

  it('cannot be answered with updates that cannot be read: the socket is closed', async () => {
    let isBroken = false;
    const failure = new Error('Away');
    const { tasks, socket, logged } = playing({
      changes: {
        readFacts:
          (read) =>
          async (...given) => {
            if (isBroken) throw failure;
            return read(...given);
          },
      },
    });
    await writeTo(tasks, 't', facts);
    socket.bufferedAmount = 65_536;
    socket.say({ event: 'subscribe', taskId: 't', after: 0, requestId: 'r' });
    await eventually(() => expect(socket.frames).toHaveLength(1));
    isBroken = true;
    socket.drain();
    await eventually(() => expect(socket.closedWith).toEqual([1011, 'Updates cannot be read']));
    expect(logged).toEqual([['warn', 'Updates of a task could not be read', { err: failure }]]);
  });
});
