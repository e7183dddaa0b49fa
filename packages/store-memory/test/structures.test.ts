import { describe, expect, it } from 'vitest';
import { Groups } from '../src/groups.ts';
import { Schedule, type Scheduled } from '../src/order/schedule.ts';

describe('groups', () => {
  it('hold one member or many by key, and nothing of a key without members', () => {
    const groups = new Groups<string, number>();
    expect([...groups.get('a')]).toEqual([]);
    groups.delete('a', 1);
    groups.add('a', 1);
    groups.delete('a', 2);
    expect([[...groups.get('a')], groups.size]).toEqual([[1], 1]);
    groups.add('a', 2);
    groups.add('a', 3);
    groups.add('a', 3);
    groups.add('b', 1);
    expect([[...groups.get('a')], [...groups.get('b')], groups.size]).toEqual([[1, 2, 3], [1], 2]);
    groups.delete('a', 1);
    groups.delete('a', 2);
    expect([[...groups.get('a')], groups.size]).toEqual([[3], 2]);
    groups.delete('a', 3);
    groups.delete('b', 1);
    expect([[...groups.get('a')], [...groups.get('b')], groups.size]).toEqual([[], [], 0]);
    groups.add('a', 4);
    groups.clear();
    expect([[...groups.get('a')], groups.size]).toEqual([[], 0]);
  });

  it('leave nothing in a set that was read before its last members went', () => {
    const groups = new Groups<string, number>();
    groups.add('a', 1);
    const single = groups.get('a');
    groups.delete('a', 1);
    expect([...single]).toEqual([1]);
    groups.add('a', 1);
    groups.add('a', 2);
    const several = groups.get('a');
    groups.delete('a', 1);
    groups.delete('a', 2);
    expect([...several]).toEqual([]);
  });
});

describe('a schedule', () => {
  class Item implements Scheduled {
    scheduled: Scheduled['scheduled'];
    readonly name: string;
    constructor(name: string) {
      this.name = name;
    }
  }
  const namesIn = (items: Iterable<Item>) => Array.from(items, ({ name }) => name);

  it('gives what is due, the longest first, of equals in the order they came', () => {
    const schedule = new Schedule<Item>();
    for (const [name, ms] of [
      ['c', 30],
      ['a', 10],
      ['b1', 20],
      ['b2', 20],
      ['d', 40],
    ] as const)
      schedule.set(new Item(name), 'q', ms);
    schedule.set(new Item('other'), 'p', 1);
    expect(namesIn(schedule.due('q', 30, 9))).toEqual(['a', 'b1', 'b2', 'c']);
    expect([schedule.count('q'), schedule.count('nothing')]).toEqual([5, 0]);
    expect(namesIn(schedule.due('q', 29, 2))).toEqual(['a', 'b1']);
    expect(schedule.due('q', 9, 9)).toEqual([]);
    expect(schedule.due('nothing', 9, 9)).toEqual([]);
    expect(namesIn(schedule.items('q'))).toEqual(['a', 'b1', 'b2', 'c', 'd']);
    expect(namesIn(schedule.items('nothing'))).toEqual([]);
  });

  it('has an item once, where it was put last', () => {
    const schedule = new Schedule<Item>();
    const [a, b] = [new Item('a'), new Item('b')];
    schedule.delete(a);
    schedule.set(a, 'q', 10);
    schedule.set(b, 'q', 10);
    schedule.set(a, 'q', 10);
    expect(namesIn(schedule.items('q'))).toEqual(['b', 'a']);
    schedule.set(a, 'p', 5);
    expect([namesIn(schedule.items('q')), namesIn(schedule.items('p'))]).toEqual([['b'], ['a']]);
    schedule.delete(b);
    schedule.delete(b);
    expect(namesIn(schedule.items('q'))).toEqual([]);
    schedule.set(b, 'q', 1);
    expect(namesIn(schedule.items('q'))).toEqual(['b']);
    // Another schedule leaves it alone.
    new Schedule<Item>().delete(b);
    expect(namesIn(schedule.items('q'))).toEqual(['b']);
    schedule.delete(b);
    expect(namesIn(schedule.items('q'))).toEqual([]);
  });

  it('finds an item that came before one that is due earlier', () => {
    const schedule = new Schedule<Item>();
    const [late, early] = [new Item('late'), new Item('early')];
    schedule.set(late, 'q', 20);
    schedule.set(early, 'q', 10);
    schedule.delete(late);
    expect(namesIn(schedule.items('q'))).toEqual(['early']);
  });
});
