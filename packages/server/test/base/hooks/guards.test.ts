import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { consoleLogger, guardLogger, type Logger, toLogger } from '../../../src/base/hooks/logger.ts';
import { detached, runIn, TracedEvents } from '../../../src/base/hooks/telemetry.ts';

/** What is written to the console, until the test ends. */
function written() {
  const lines: unknown[][] = [];
  for (const level of ['error', 'warn', 'info', 'log'] as const) {
    const spy = vi.spyOn(console, level).mockImplementation((...args) => void lines.push([level, ...args]));
    onTestFinished(() => spy.mockRestore());
  }
  return lines;
}

it('without a log, errors and warnings go to the console, and nothing else', () => {
  const lines = written();
  for (const level of ['error', 'warn', 'info'] as const) consoleLogger(level, 'It says', { a: 1 });
  expect(lines).toEqual([
    ['error', '[baton] It says', { a: 1 }],
    ['warn', '[baton] It says', { a: 1 }],
  ]);
});

it('a logger gets details first, by its own level', () => {
  const lines: unknown[] = [];
  const method = (level: string) => (details: object, message: string) =>
    lines.push([level, details, message]);
  const logger = toLogger({ error: method('error'), warn: method('warn'), info: method('info') });
  for (const level of ['error', 'warn', 'info'] as const) logger(level, 'x', { a: level });
  expect(lines).toEqual(['error', 'warn', 'info'].map((level) => [level, { a: level }, 'x']));
  const message = '`logger` must be a function, or a logger with the methods `error`, `warn` and `info`';
  for (const wrong of [null, undefined, {}, 'x', { error() {}, warn() {}, info: 1 }])
    expect(() => toLogger(wrong as never)).toThrow(new TypeError(message));
});

describe('a guarded log', () => {
  it('names errors as loggers want them, and the span in which it is called', () => {
    const lines: unknown[] = [];
    const record: Logger = (...line) => lines.push(line);
    const error = new Error('x');
    guardLogger(record)('warn', 'plain', { a: 1 });
    guardLogger(record)('error', 'thrown', { a: 1, error });
    const span = { traceId: 't', spanId: 's' };
    guardLogger(record, { active: () => span })('info', 'in a span', { a: 1, error });
    guardLogger(record, { active: () => undefined })('info', 'in none', { a: 1 });
    guardLogger(record, {})('info', 'without', { a: 1 });
    expect(lines).toEqual([
      ['warn', 'plain', { a: 1 }],
      ['error', 'thrown', { a: 1, err: error }],
      ['info', 'in a span', { a: 1, err: error, ...span }],
      ['info', 'in none', { a: 1 }],
      ['info', 'without', { a: 1 }],
    ]);
    expect(Object.keys((lines[1] as [unknown, unknown, object])[2])).toEqual(['a', 'err']);
  });

  it('that throws says so on the console', () => {
    const lines = written();
    const error = new Error('disk full');
    guardLogger(() => {
      throw error;
    })('info', 'x', {});
    expect(lines).toEqual([['error', '[baton] The logger failed', { err: error }]]);
  });

  it('that throws what cannot be printed says so all the same', () => {
    const lines: unknown[] = [];
    const spy = vi.spyOn(console, 'error').mockImplementation((...line) => {
      if (lines.push(line) === 1) throw new Error('cannot be printed');
    });
    onTestFinished(() => spy.mockRestore());
    guardLogger(() => {
      throw new Error('x');
    })('info', 'the line', {});
    expect(lines[1]).toEqual(['[baton] The logger failed', { err: '' }]);
  });
});

describe('telemetry', () => {
  it('runs what belongs to a span in it, and what belongs to none outside', () => {
    const inside: string[] = [];
    const within =
      (name: string) =>
      <T>(fn: () => T): T => {
        inside.push(name);
        return fn();
      };
    const span = { run: within('in') };
    expect([runIn(span, () => 1), runIn(undefined, () => 2), inside]).toEqual([1, 2, ['in']]);
    const loose = { detached: within('out') };
    expect([detached(loose as never, () => 3), detached(undefined, () => 4)]).toEqual([3, 4]);
    expect([detached({} as never, () => 5), inside]).toEqual([5, ['in', 'out']]);
  });

  it('sees each event of a stream, and its end once: the last event, no more events, or a reader that leaves', async () => {
    const batch = (values: number[], isLast = false) => ({
      events: values.map((value) => ({ event: { value } })),
      isLast,
    });
    const told = (given: (ReturnType<typeof batch> | undefined)[], first = batch([1])) => {
      const calls: unknown[] = [];
      const span = {
        ...{ streams: () => calls.push('streams'), saw: (value: unknown) => calls.push(value) },
        end: () => calls.push('end'),
      };
      const events = { next: async () => given.shift(), close: () => calls.push('close') };
      return { calls, traced: new TracedEvents(events, span as never, first) };
    };
    const { calls, traced } = told([batch([2, 3]), batch([4], true)]);
    for (let n = 0; n < 2; n++) await traced.next();
    expect(calls).toEqual(['streams', 1, 2, 3, 4, 'end']);
    const empty = told([undefined]);
    expect(await empty.traced.next()).toBeUndefined();
    expect(empty.calls).toEqual(['streams', 1, 'end']);
    const left = told([]);
    left.traced.close();
    expect(left.calls).toEqual(['streams', 1, 'end', 'close']);
    expect(told([], batch([], true)).calls).toEqual(['streams', 'end']);
  });
});
