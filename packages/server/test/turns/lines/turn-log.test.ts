import { weigh } from '@batonjs/lifecycle/internals';
import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../../test/kit/until.ts';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  artifact,
  completed,
  inputRequired,
  reply,
  type Turn,
  working,
} from '../../../src/index.ts';
import { createWorker } from '../../../src/worker.ts';

const configuration = { returnImmediately: true };
const send = async (server: AgentServer, words = 'go'): Promise<string> => {
  const { task } = await rpc(server, 'SendMessage', { message: say(words), configuration });
  return task.id;
};

/** A server whose log and whose store can be read. */
function observed(agent: Agent, options: Partial<AgentServerOptions> = {}) {
  const store = memoryStore();
  const told: unknown[] = [];
  const logger: AgentServerOptions['logger'] = (...line) => void told.push(line);
  const server = serve(agent, { store, logger, ...options });
  const stored = (id: string) => store.readFacts(scope, id, 0, 1_000);
  const logged = async (id: string) =>
    (await stored(id)).flatMap(({ fact }) => (fact.type === 'turn-logged' ? [fact] : []));
  const texts = async (id: string) =>
    (await logged(id)).flatMap(({ lines }) => lines.map(({ text }) => text));
  return { store, server, told, stored, logged, texts };
}

/** The lines of a task whose agent does this in its only turn. */
async function linesOf(act: (turn: Turn) => unknown, options: Partial<AgentServerOptions> = {}) {
  const { server, logged, told } = observed(async function* (turn) {
    await act(turn);
    yield completed();
  }, options);
  const id = await send(server);
  await until(server, id, 'COMPLETED');
  const facts = await logged(id);
  return { facts, lines: facts.flatMap(({ lines }) => lines), told };
}

describe('turn.log', () => {
  it('goes to the logger at once, and to the log of the task with the next commit', async () => {
    const { server, told, stored } = observed(async function* ({ log, memory, step }) {
      log.info('Begun');
      yield working();
      log.info('Looking', { city: 'Rome' });
      log.warn('Slow');
      await step('look', () => 1);
      log.info('Found');
      await memory.set('found', 1);
      log.error('Too late');
      yield completed();
    });
    const id = await send(server);
    await until(server, id, 'COMPLETED');
    const about = { taskId: id, turn: 1, attempt: 1 };
    expect(told).toEqual([
      ['info', 'Begun', about],
      ['info', 'Looking', { city: 'Rome', ...about }],
      ['warn', 'Slow', about],
      ['info', 'Found', about],
      ['error', 'Too late', about],
    ]);
    const facts = await stored(id);
    const carriers = facts.flatMap(({ fact, commitId }) =>
      fact.type === 'turn-logged'
        ? [
            [
              fact.lines.map(({ level, text, fields }) => [level, text, fields]),
              facts.filter((each) => each.commitId === commitId).map((each) => each.fact.type),
            ],
          ]
        : [],
    );
    expect(carriers).toEqual([
      [[['info', 'Begun', undefined]], ['turn-logged', 'status-changed']],
      [
        [
          ['info', 'Looking', { city: 'Rome' }],
          ['warn', 'Slow', undefined],
        ],
        ['turn-logged', 'step-completed'],
      ],
      [[['info', 'Found', undefined]], ['turn-logged', 'memory-changed']],
      [[['error', 'Too late', undefined]], ['turn-logged', 'turn-ended', 'status-changed']],
    ]);
  });

  it.each<[string, Agent, string]>([
    [
      'a question',
      async function* ({ log }) {
        log.info('One');
        yield inputRequired('Well?');
      },
      'INPUT_REQUIRED',
    ],
    [
      'a failure',
      async function* ({ log }) {
        yield working();
        log.info('One');
        throw new Error('Broken');
      },
      'FAILED',
    ],
    [
      'the end without a word',
      async function* ({ log, wakeAt }) {
        yield working();
        await wakeAt(Date.now() + 3_600_000);
        log.info('One');
      },
      'WORKING',
    ],
  ])('is kept with %s', async (_, agent, state) => {
    const { server, texts } = observed(agent);
    const id = await send(server);
    await until(server, id, state);
    await eventually(async () => expect(await texts(id)).toEqual(['One']));
  });

  it('is kept with an answer that makes no task', async () => {
    const { server, store } = observed(({ log }) => {
      log.info('One');
      return reply('Hello');
    });
    await rpc(server, 'SendMessage', { message: say('go') });
    const { tasks } = await store.list(scope, { answered: true, limit: 1 });
    const facts = await store.readFacts(scope, tasks[0]!.taskId, 0, 10);
    expect(facts.map(({ fact }) => fact.type)).toEqual([
      'message-received',
      'turn-started',
      'turn-logged',
      'turn-ended',
      'answered',
    ]);
  });

  it('has a commit of its own half a second later, if the turn makes none', async () => {
    const clock = testClock();
    const { server, texts } = observed(
      async function* ({ log, signal }) {
        yield working();
        log.info('One');
        log.info('Two');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield completed();
      },
      { clock },
    );
    const id = await send(server);
    await clock.advance(499);
    expect(await texts(id)).toEqual([]);
    await clock.advance(1);
    expect(await texts(id)).toEqual(['One', 'Two']);
    await rpc(server, 'CancelTask', { id });
  });

  it('is of the attempt that logged, and stays when a server closes in the middle of a turn', async () => {
    const store = memoryStore();
    const logs = Promise.withResolvers<void>();
    const agent: Agent = async function* ({ log, attempt, signal }) {
      log.info(`Attempt ${attempt}`);
      logs.resolve();
      if (attempt === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield completed();
    };
    const first = observed(agent, { store, restart: 'rerun' });
    const id = await send(first.server);
    await logs.promise;
    await first.server.close({ graceMs: 0 });
    const second = serve(agent, { store, restart: 'rerun' });
    await until(second, id, 'COMPLETED');
    const facts = (await store.readFacts(scope, id, 0, 100)).map(({ fact }) => fact);
    expect(
      facts.flatMap((fact) =>
        fact.type === 'turn-logged' ? [[fact.turn, fact.attempt, fact.lines.map(({ text }) => text)]] : [],
      ),
    ).toEqual([
      [1, 1, ['Attempt 1']],
      [1, 2, ['Attempt 2']],
    ]);
  });

  it('goes to the logger of the worker that runs the turn', async () => {
    const { server, store, told, texts } = observed(async function* () {}, { run: 'workers' });
    const heard: unknown[] = [];
    const agent: Agent = async function* ({ log }) {
      log.info('One');
      yield completed();
    };
    const worker = createWorker({ agent, store, logger: (...line) => void heard.push(line) });
    onTestFinished(() => worker.close());
    const id = await send(server);
    await until(server, id, 'COMPLETED');
    expect([heard, told]).toEqual([[['info', 'One', { taskId: id, turn: 1, attempt: 1 }]], []]);
    expect(await texts(id)).toEqual(['One']);
  });

  it('says nothing of a task that is over', async () => {
    const over = Promise.withResolvers<Turn['log']>();
    const { server, texts, told } = observed(async function* ({ log }) {
      over.resolve(log);
      yield completed();
    });
    const id = await send(server);
    await until(server, id, 'COMPLETED');
    (await over.promise).info('Late');
    expect(told).toEqual([['info', 'Late', { taskId: id, turn: 1, attempt: 1 }]]);
    expect(await texts(id)).toEqual([]);
  });

  it('stays in the commit of an update that is refused at first', async () => {
    const { lines, facts } = await linesOf(async ({ log, memory }) => {
      log.info('One');
      await memory.set('large', 'x'.repeat(2 ** 21)).catch(() => log.warn('Too large'));
    });
    expect(lines.map(({ text }) => text)).toEqual(['One', 'Too large']);
    expect(facts).toHaveLength(1);
  });
});

describe('what is kept of a line', () => {
  const lineOf = async (fields: object, text = 'A line') =>
    (await linesOf(({ log }) => log.info(text, fields))).lines[0];

  it('is what JSON has of its fields, and errors with their causes', async () => {
    const cause = new Error('No route');
    const error = Object.assign(new Error('Broken', { cause }), { code: 'E1' });
    expect(await lineOf({ error, big: 7n, at: new Date(0) })).toMatchObject({
      fields: {
        error: { name: 'Error', message: 'Broken', code: 'E1', cause: { message: 'No route' } },
        big: '7',
        at: '1970-01-01T00:00:00.000Z',
      },
    });
    const { lines, told } = await linesOf(({ log }) => log.error('Failed', error));
    expect(lines[0]).toMatchObject({ fields: { error: { stack: expect.stringContaining('turn-log') } } });
    // Under this name, pino and bunyan write the stack.
    expect(told[0]).toMatchObject(['error', 'Failed', { err: error }]);
  });

  it('has no fields that JSON cannot hold, or that are too large', async () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    const throwing = {
      get member() {
        throw new Error('No');
      },
    };
    for (const fields of [circular, { long: 'x'.repeat(4_001) }, { throwing }])
      expect(await lineOf(fields)).toEqual({
        at: expect.any(String),
        level: 'info',
        text: 'A line',
        isCut: true,
      });
    expect(await lineOf([1])).toMatchObject({ fields: { value: [1] } });
  });

  it('is the beginning of a long text', async () => {
    const line = await lineOf({ a: 1 }, `${'x'.repeat(1_998)}\u{1f600}more`);
    expect(line).toMatchObject({ fields: { a: 1 }, isCut: true });
    expect(line?.text).toBe(`${'x'.repeat(1_998)}\ufffd…`);
    expect((await lineOf({}, 'x'.repeat(2_000)))?.isCut).toBeUndefined();
  });

  it('is bounded for a task, through all its turns', async () => {
    const { server, logged, told } = observed(
      async function* ({ log, text }) {
        for (let n = 1; n <= 3; n++) log.info(`${text} ${n}`);
        if (text === 'end') yield completed();
        else yield inputRequired('Well?');
      },
      { limits: { logLinesPerTask: 4 } },
    );
    const id = await send(server, 'one');
    for (const words of ['two', 'three', 'end']) {
      await until(server, id, 'INPUT_REQUIRED');
      await rpc(server, 'SendMessage', { message: say(words, { taskId: id }), configuration });
    }
    await until(server, id, 'COMPLETED');
    const kept = (await logged(id)).map(({ lines, full }) => [lines.map(({ text }) => text), full]);
    expect(kept).toEqual([
      [['one 1', 'one 2', 'one 3'], undefined],
      [['two 1'], true],
    ]);
    expect(told).toHaveLength(12);
  });

  it.each([
    ['no lines', { logLinesPerTask: 0 }, []],
    ['few bytes', { logBytesPerTask: 150 }, ['1', '2']],
    ['few bytes, and fewer lines', { logBytesPerTask: 150, logLinesPerTask: 1 }, ['1']],
    ['few lines, and fewer bytes', { logBytesPerTask: 150, logLinesPerTask: 3 }, ['1', '2']],
  ])('is nothing beyond the limits: %s', async (_, limits, expected) => {
    const { facts, lines } = await linesOf(
      ({ log }) => ['1', '2', '3'].forEach((text) => void log.info(text)),
      { limits },
    );
    expect(lines.map(({ text }) => text)).toEqual(expected);
    expect(facts.map(({ full }) => full)).toEqual([true]);
  });

  it('goes on for as long as the log has room, however often it was written meanwhile', async () => {
    const act = async ({ log, memory }: Turn) => {
      for (let n = 0; n < 10; n++) {
        log.info(`${n}`.padEnd(100, 'x'));
        await memory.set('n', n);
      }
    };
    const logged = (await linesOf(act)).lines;
    const limits = { logBytesPerTask: logged.reduce((sum, line) => sum + weigh(line), 0) };
    expect((await linesOf(act, { limits })).lines).toHaveLength(10);
  });

  it('is nothing where the log of the task is full: its agent goes on', async () => {
    const { server, texts, told } = observed(
      async function* ({ log }) {
        yield working();
        log.info('x'.repeat(1_000));
        yield artifact('a', 'b');
        yield completed();
      },
      { limits: { bytesPerTask: 1_200 } },
    );
    const id = await send(server);
    expect(await until(server, id, 'COMPLETED')).toMatchObject({ artifacts: [{ artifactId: 'a' }] });
    expect(await texts(id)).toEqual([]);
    expect(told).toHaveLength(1);
  });
});
