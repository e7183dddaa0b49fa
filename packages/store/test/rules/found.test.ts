import { describe, expect, it } from 'vitest';
import { foundOf, foundTask } from '../../src/rules/found.ts';

const moment = { now: 1, orderNow: 1, leaseNow: 1 };

describe('what a look has found', () => {
  it('is taken by its name, also if it is nothing', () => {
    const task = { row: undefined, webhooks: [], once: 7 };
    expect(foundOf({ ...moment, waiting: 0 }, 'waiting')).toBe(0);
    expect(foundOf({ ...moment, held: [] }, 'held')).toEqual([]);
    expect(foundTask({ ...moment, tasks: [task] })).toBe(task);
  });

  it('is refused where an adapter has left it out, and the error names it', () => {
    expect(() => foundOf(moment, 'dead')).toThrow(
      expect.objectContaining({ code: 'UNUSABLE', message: expect.stringContaining('`dead`') }),
    );
    for (const found of [moment, { ...moment, tasks: [] }])
      expect(() => foundTask(found)).toThrow(/has not looked for `tasks`/);
  });
});
