import {
  decide,
  evolve,
  FACT_FORMAT,
  type Fact,
  replay,
  type State,
  toSnapshot,
  viewTask,
} from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import { artifact, at, create, given, receive, startTurn, step, stepsOf, to } from './given.ts';

const many = 20_000;

/** The array, counting how many of its items are read. */
function counted<T>(items: T[]): { items: T[]; reads: () => number } {
  let reads = 0;
  const proxy = new Proxy(items, {
    get(target, name, receiver) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads++;
      return Reflect.get(target, name, receiver);
    },
  });
  return { items: proxy, reads: () => reads };
}

/** The state after one command, decided and folded. */
const after = (state: State, command: Parameters<typeof decide>[1]): State =>
  decide(state, command, at(0)).reduce(evolve, state);

describe('appending a chunk', () => {
  const started = given(receive('m1'), create, startTurn, artifact('a1', ['first']));
  const chunk = artifact('a1', ['chunk'], { append: true });
  const partsOf = (state: State) => state.task!.artifacts[0]!.parts;

  it(`neither copies nor replaces the chunks before it, ${many} times`, () => {
    let state = started.now;
    const arrays = new Set([partsOf(state).items]);
    for (let count = 0; count < many; count++) {
      state = after(state, chunk);
      arrays.add(partsOf(state).items);
    }
    expect(arrays.size).toBe(1);
    expect(viewTask(state).artifacts![0]!.parts).toHaveLength(many + 1);
    expect(viewTask(started.now).artifacts![0]!.parts).toHaveLength(1);
  });

  it('does not read them', () => {
    const [record] = started.now.task!.artifacts;
    const { items, reads } = counted(Array.from({ length: many }, () => ({ text: 'chunk' })));
    const parts = { items, length: items.length };
    let state: State = { ...started.now, task: { ...started.now.task!, artifacts: [{ ...record!, parts }] } };
    const before = reads();
    for (let count = 0; count < 10; count++) state = after(state, chunk);
    expect(partsOf(state).length).toBe(many + 10);
    expect(reads()).toBe(before);
  });

  it('copies them once where a state continues that another one continued already', () => {
    const left = after(started.now, chunk);
    const right = after(started.now, chunk);
    expect(partsOf(right).items).not.toBe(partsOf(left).items);
    expect(partsOf(after(right, chunk)).items).toBe(partsOf(right).items);
    expect(partsOf(after(left, chunk)).items).toBe(partsOf(left).items);
  });
});

describe('saying something', () => {
  const started = given(receive('m1'), create, startTurn);

  it(`neither copies nor replaces what was said before, ${many} times`, () => {
    let state = started.now;
    const arrays = new Set([state.conversation.messages.items]);
    const positions = new Set([state.conversation.positions]);
    for (let count = 0; count < many; count++) {
      state = after(state, to('WORKING', `w${count}`));
      arrays.add(state.conversation.messages.items);
      positions.add(state.conversation.positions);
    }
    expect(arrays.size).toBe(1);
    expect(positions.size).toBe(1);
    expect(state.conversation.messages.length).toBe(many + 1);
    expect(started.now.conversation.messages.length).toBe(1);
  });

  it('does not read it', () => {
    const said = Array.from({ length: many }, (_, index) => ({
      messageId: `s${index}`,
      role: 'ROLE_AGENT' as const,
      parts: [{ text: 'x' }],
    }));
    const { items, reads } = counted(said);
    const messages = { items, length: items.length };
    const positions = new Map(said.map(({ messageId }, index) => [messageId, index]));
    let state: State = { ...started.now, conversation: { messages, positions } };
    const before = reads();
    for (let count = 0; count < 10; count++) {
      state = after(state, to('WORKING', `w${count}`));
      state = after(state, receive(`m${count + 2}`));
    }
    expect(state.conversation.messages.length).toBe(many + 20);
    // Each status looks up where its own message stands.
    expect(reads() - before).toBeLessThanOrEqual(20);
  });
});

describe('completing a step', () => {
  const started = given(receive('m1'), create, startTurn, step('s', 0));

  it(`neither copies nor replaces the results before it, ${many} times`, () => {
    let state = started.now;
    const maps = new Set([state.openTurn?.steps?.byName]);
    for (let count = 0; count < many; count++) {
      state = after(state, step(`s${count}`, count));
      maps.add(state.openTurn?.steps?.byName);
    }
    expect(maps.size).toBe(1);
    expect(Object.keys(stepsOf(state)!)).toHaveLength(many + 1);
    expect(stepsOf(started.now)).toEqual({ s: 0 });
  });

  it('copies them once where a state continues that another one continued already', () => {
    const [left, right] = [after(started.now, step('l')), after(started.now, step('r'))];
    const mapOf = (state: State) => state.openTurn?.steps?.byName;
    expect(mapOf(right)).not.toBe(mapOf(left));
    expect(mapOf(after(right, step('s1')))).toBe(mapOf(right));
    expect(mapOf(after(left, step('s1')))).toBe(mapOf(left));
  });
});

describe('taking messages', () => {
  it('reads each of those that wait a fixed number of times, however many the turn takes', () => {
    const waiting = given(receive('m1'), create).now;
    const message = waiting.pending[0]!;
    const readsOf = (count: number): number => {
      const pending = Array.from({ length: count }, (_, index) => ({
        ...message,
        message: { ...message.message, messageId: `w${index}` },
      }));
      const { items, reads } = counted(pending);
      const [started] = decide({ ...waiting, pending }, startTurn, at(0));
      if (started?.type !== 'turn-started') throw new Error('No turn was started');
      const ids = counted([...started.messageIds]);
      const after = evolve({ ...waiting, pending: items }, { ...started, messageIds: ids.items });
      expect(after.pending).toEqual([]);
      return reads() + ids.reads();
    };
    expect(readsOf(2_000)).toBe(2 * readsOf(1_000));
  });
});

describe('folding a log', () => {
  const { now } = given(receive('m1'), create, startTurn);
  const told = { format: FACT_FORMAT, at: at(0) } as const;
  const kinds: { readonly [kind: string]: (name: string) => Fact } = {
    artifacts: (name) => ({
      ...told,
      type: 'artifact-updated',
      ...{ artifact: { artifactId: name, parts: [{ text: name }] }, append: false, lastChunk: true },
    }),
    memory: (name) => ({ ...told, type: 'memory-changed', changes: { [name]: name } }),
    'kept steps': (name) => ({ ...told, type: 'step-completed', turn: 1, name, result: name, keep: 'task' }),
    'failed steps': (name) => ({ ...told, type: 'step-failed', turn: 1, name, attempt: 1, message: name }),
    children: (name) => ({ ...told, type: 'child-updated', name, child: { agent: name } }),
    callbacks: (name) => ({ ...told, type: 'callback-opened', id: name, name, turn: 1, expiresAt: at(9) }),
  };

  /** The least processor time of several folds of `count` facts, in microseconds. */
  function cpuOf(kind: (name: string) => Fact, count: number): number {
    const facts = Array.from({ length: count }, (_, index) => kind(`n${index}`));
    const runs = Array.from({ length: 4 }, () => {
      const before = process.cpuUsage();
      replay(facts, now);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...runs);
  }

  it.each(Object.entries(kinds))('of many %s costs each of its facts alone', (_, kind) => {
    // Eight times as many would cost 64 times as much if each fact copied what came before it.
    expect(cpuOf(kind, 16_000) / cpuOf(kind, 2_000)).toBeLessThan(30);
  });

  it.each(Object.entries(kinds))('leaves the %s of the state that it began with', (_, kind) => {
    const facts = Array.from({ length: 20 }, (_, index) => kind(`${index % 15}`));
    const states: State[] = [now];
    for (const fact of facts) states.push(evolve(states.at(-1)!, fact));
    const plain = states.map((state) => structuredClone(toSnapshot(state)));
    for (const [index, state] of states.entries())
      expect(toSnapshot(replay(facts.slice(index), state)!)).toEqual(plain.at(-1));
    expect(states.map(toSnapshot)).toEqual(plain);
  });
});
