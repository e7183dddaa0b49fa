import { describe, expect, it } from 'vitest';
import { pickTurns, TurnGate } from '../../src/rules/task-row.ts';

const place = (name: string) => ({ scope: name[0]!, context: name.slice(1) });

describe('the contexts in which no turn may start', () => {
  const gate = new TurnGate({ perContext: 2 }, ['a1', 'a1', 'a2', 'b1'].map(place));

  it('are those of the caller that have as many as they may', () => {
    expect(gate.fullContexts('a')).toEqual(['1']);
    expect(gate.fullContexts('b')).toEqual([]);
  });

  it('are none of a caller without turns', () => {
    expect(gate.fullContexts('c')).toEqual([]);
  });
});

it('no caller is admitted where as many run as may, whoever has them', () => {
  const gate = new TurnGate({ concurrency: 1 }, [place('a1')]);
  expect([gate.room, gate.admitsCaller('b'), gate.admits(place('b1'))]).toEqual([0, false, false]);
});

describe('the turns that start', () => {
  const callers = [['a1', 'a2', 'a3'], ['b1', 'b2'], ['c1']].map((names) => names.map(place));

  it.each([
    [-1, []],
    [0, []],
    [2, ['a1', 'b1']],
    [5, ['a1', 'b1', 'c1', 'a2', 'b2']],
    [9, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']],
  ])('are one of each caller in turn, at most %i', (limit, names) => {
    const picked = pickTurns(new TurnGate({}, []), callers, limit);
    expect(picked.map(({ scope, context }) => `${scope}${context}`)).toEqual(names);
  });
});
