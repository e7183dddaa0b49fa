import { FACT_FORMAT, type Fact, type State } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import type { LiveTask } from '../../../src/log/live-task.ts';
import { checkDecided, memoryErrorOf, reserveSize } from '../../../src/log/write/decision.ts';

const limits = { factsPerTask: 20, bytesPerTask: 1_000, memoryBytes: 100 };
const full = { version: 21, weight: 1_000 } as State;

const fact = (type: Fact['type'], more: object = {}): Fact =>
  ({ type, format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z', ...more }) as Fact;
const status = (state: string, words: string): Fact =>
  fact('status-changed', {
    status: {
      state: `TASK_STATE_${state}`,
      message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: words }] },
    },
  });
const answer = (words: string): Fact =>
  fact('answered', { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: words }] } });
const tooLong = 'x'.repeat(65 * 1024);

const refusal = (facts: readonly Fact[], state: Partial<State> = full) => {
  try {
    checkDecided({ facts, state: state as State }, limits);
  } catch (error) {
    return (error as { reason: string }).reason;
  }
  return undefined;
};

describe('a decision', () => {
  it.each([
    [{ version: 20, weight: 1_000 }, undefined],
    [{ version: 21, weight: 1_000 }, 'RESOURCE_EXHAUSTED'],
    [{ version: 20, weight: 1_001 }, 'RESOURCE_EXHAUSTED'],
  ])('may make a log as large as the limits, and no larger: %j', (state, reason) => {
    expect(refusal([fact('artifact-updated')], state)).toBe(reason);
  });
});

describe('a full log', () => {
  it.each([
    ['the creation of its task', [fact('task-created')]],
    ['the start of a turn, with all that comes with it', [fact('turn-started'), status('WORKING', 'On it')]],
    ['the end of a turn', [fact('turn-ended')]],
    ['the taking of a message', [fact('message-taken')]],
    ['a cancel request', [fact('cancel-requested')]],
    ['a cancel request that says much', [fact('cancel-requested', { metadata: { why: tooLong } })]],
    ['the pause of a turn', [fact('turn-paused')]],
    ['why a turn failed', [fact('turn-failed')]],
    ['a short last status', [status('CANCELED', 'Done')]],
    ['a short answer', [answer('Done')]],
    ['nothing', []],
  ])('takes %s', (_what, facts) => {
    expect(refusal(facts)).toBeUndefined();
  });

  it.each([
    ['a status that is not the last', [status('WORKING', 'On it')]],
    ['a long last status', [status('COMPLETED', tooLong)]],
    ['a long answer', [answer(tooLong)]],
    ['an artifact', [fact('artifact-updated')]],
    ['a step', [fact('step-completed')]],
    ['a step that failed', [fact('step-failed')]],
    ['memory', [fact('memory-changed')]],
    ['a callback', [fact('callback-opened')]],
    ['the value of a callback', [fact('callback-received')]],
    ['a long text why a turn failed', [fact('turn-failed', { message: tooLong })]],
    ['a message', [fact('message-received')]],
    ['a wake', [fact('woken')]],
    ['a time for the next turn', [fact('wake-set')]],
    ['an artifact with the end of a turn', [fact('turn-ended'), fact('artifact-updated')]],
  ])('refuses %s', (_what, facts) => {
    expect(refusal(facts)).toBe('RESOURCE_EXHAUSTED');
  });

  it('takes short news of children with the fact that closes it, and refuses them without it or if they are long', () => {
    const news = (record: string) => fact('child-updated', { name: 'c', child: { agent: 'Other', record } });
    const last = [fact('turn-ended'), status('CANCELED', 'Done')];
    const closed = { ...full, closed: true };
    expect(refusal([news('x'), news('y'), ...last], closed)).toBeUndefined();
    expect(refusal([news('x')])).toBe('RESOURCE_EXHAUSTED');
    const memory = (value: string) => fact('memory-changed', { changes: { value } });
    expect(refusal([memory('x'), ...last], closed)).toBeUndefined();
    expect(refusal([memory(tooLong), ...last], closed)).toBe('RESOURCE_EXHAUSTED');
    expect(refusal([fact('labels-set', { labels: ['x'] }), ...last], closed)).toBeUndefined();
    const half = 'x'.repeat(33 * 1024);
    expect(refusal([memory(half), news(half), ...last], closed)).toBe('RESOURCE_EXHAUSTED');
    expect(refusal([news(half), ...last], closed)).toBeUndefined();
    // The last words have a limit of their own.
    expect(refusal([news(half), status('COMPLETED', half)], closed)).toBeUndefined();
    expect(refusal([news(half), news(half), ...last], closed)).toBe('RESOURCE_EXHAUSTED');
  });
});

describe('what is appended at the end of a log', () => {
  const one = fact('artifact-updated');
  const size = weigh(one);
  const live = (version: number, weight = 0) => ({ state: { version, weight } }) as LiveTask;

  it('may fill it, and no more, together with what others append meanwhile', () => {
    const task = live(17);
    const end = reserveSize(task, [one, one], limits);
    reserveSize(task, [one], limits);
    expect(() => reserveSize(task, [one], limits)).toThrow('The task has reached the size limit');
    end();
    reserveSize(task, [one, one], limits);
    expect(() => reserveSize(task, [one], limits)).toThrow('The task has reached the size limit');
  });

  it('is weighed in the same way', () => {
    const task = live(1, limits.bytesPerTask - 2 * size);
    const end = reserveSize(task, [one], limits);
    reserveSize(task, [one], limits);
    expect(() => reserveSize(task, [one], limits)).toThrow('The task has reached the size limit');
    end();
    reserveSize(task, [one], limits);
    reserveSize(live(limits.factsPerTask, limits.bytesPerTask), [], limits);
  });
});
describe('what a task keeps', () => {
  const kept = (memoryBytes: number) =>
    ({ version: 1, weight: 1, agent: { memory: {}, steps: {}, callbacks: {}, memoryBytes } }) as State;
  const remember = (changes: object) => fact('memory-changed', { changes });
  const errorOf = (facts: readonly Fact[], state: State) => {
    try {
      checkDecided({ facts, state }, limits);
    } catch (error) {
      return memoryErrorOf(error);
    }
    return undefined;
  };

  it('may be as large as the limit, and no larger', () => {
    expect(refusal([remember({ a: 1 })], kept(100))).toBeUndefined();
    expect(refusal([remember({ a: 1 })], kept(101))).toBe('RESOURCE_EXHAUSTED');
    expect(refusal([fact('step-completed', { name: 's', result: 1, keep: 'task' })], kept(101))).toBe(
      'RESOURCE_EXHAUSTED',
    );
  });

  it('may become smaller, and keeps no other fact from being written', () => {
    expect(refusal([fact('memory-changed', { changes: {}, removed: ['a'] })], kept(101))).toBeUndefined();
    expect(refusal([fact('step-completed', { name: 's', result: 1 })], kept(101))).toBeUndefined();
    expect(refusal([fact('artifact-updated')], kept(101))).toBeUndefined();
  });

  it('is refused with keys and sizes for the agent, and without them for clients', () => {
    const facts = [remember({ secret: 'x'.repeat(50), b: 1 })];
    const sizes = 'The memory "secret" has 64 bytes, The memory "b" has 11 bytes';
    const all = 'all that the task keeps would have 101 of 100 (`limits.memoryBytes`)';
    expect(errorOf(facts, kept(101))).toEqual(new RangeError(`${sizes}; ${all}`));
    const step = [fact('step-completed', { name: 's', result: 1, keep: 'task' })];
    expect(errorOf(step, kept(101))).toEqual(
      new RangeError(`The result of the step "s" has 11 bytes; ${all}`),
    );
    expect(() => checkDecided({ facts, state: kept(101) }, limits)).toThrow(
      expect.objectContaining({ message: 'The task keeps more than this server allows' }),
    );
    expect(memoryErrorOf(tooLarge)).toBe(tooLarge);
    expect(memoryErrorOf('x')).toBe('x');
  });
});

const tooLarge = new A2AError('RESOURCE_EXHAUSTED');
