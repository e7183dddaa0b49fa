import { describe, expect, it } from 'vitest';
import { changedRow, type Found } from '../../src/adapter.ts';
import { StoreError } from '../../src/index.ts';
import { foundOf, foundTask } from '../../src/rules/change.ts';
import { changeOf, contextOf, guessed } from '../../src/rules.ts';
import { head, row } from '../a-row.ts';

const found: Found = { now: 1, orderNow: 1, leaseNow: 1 };

describe('a change', () => {
  it('is about the row that is written, or the one that is deleted', () => {
    const [before, after] = [row(), row({ fence: 1 })];
    expect(changedRow({ before, after })).toBe(after);
    expect(changedRow({ before: undefined, after })).toBe(after);
    expect(changedRow({ before, after: undefined })).toBe(before);
    expect(() => changedRow({ before: undefined, after: undefined })).toThrow(TypeError);
  });

  it('of a step that needs one look is what it decides, and a step that wants another look is refused', () => {
    const step = { wanted: {}, decide: ({ now }: Found) => ({ result: now }) };
    expect(changeOf(step, found)).toEqual({ result: 1 });
    expect(() => changeOf({ wanted: {}, decide: () => step }, found)).toThrow(/another look/);
  });

  it('is guessed where rows may be old: only a change counts, and no refusal', () => {
    const change = { result: 1, fullAt: 2 };
    const step = { wanted: {}, decide: () => ({ result: 1 }) };
    expect(guessed({ wanted: {}, decide: () => change }, found)).toBe(change);
    expect(guessed(step, found)).toBeUndefined();
    expect(guessed({ wanted: {}, decide: () => step }, found)).toBeUndefined();
    const thrown = (error: unknown) => () => {
      throw error;
    };
    const refused = new StoreError('VERSION_CONFLICT', 'refused');
    expect(guessed({ wanted: {}, decide: thrown(refused) }, found)).toBeUndefined();
    expect(() => guessed({ wanted: {}, decide: thrown(new TypeError('a fault')) }, found)).toThrow('a fault');
  });
});

it('the context of an empty log is no text', () => {
  expect([
    contextOf(row({ head: head(2, { contextId: 'x' }) })),
    contextOf(row({ head: undefined })),
  ]).toEqual(['x', '']);
});

describe('what a look has found', () => {
  it('is taken by its name, also if it is nothing', () => {
    const task = { row: undefined, webhooks: [], once: 7 };
    expect(foundOf({ ...found, waiting: 0 }, 'waiting')).toBe(0);
    expect(foundOf({ ...found, held: [] }, 'held')).toEqual([]);
    expect(foundTask({ ...found, tasks: [task] })).toBe(task);
  });

  it('is refused where an adapter has left it out, and the error names it', () => {
    expect(() => foundOf(found, 'dead')).toThrow(
      expect.objectContaining({ code: 'UNUSABLE', message: expect.stringContaining('`dead`') }),
    );
    for (const empty of [found, { ...found, tasks: [] }])
      expect(() => foundTask(empty)).toThrow(/has not looked for `tasks`/);
  });
});
