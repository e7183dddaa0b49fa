import { describe, expect, it } from 'vitest';
import { Groups } from '../src/groups.ts';
import { PriorityQueues, type Queued } from '../src/order/priority-queues.ts';

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

describe('priority queues', () => {
  class Item implements Queued {
    queued: Queued['queued'];
    readonly name: string;
    constructor(name: string) {
      this.name = name;
    }
  }
  const namesIn = (items: Iterable<Item>) => Array.from(items, ({ name }) => name);

  it('gives what is due, the longest first, of equals in the order they came', () => {
    const queues = new PriorityQueues<Item>();
    for (const [name, ms] of [
      ['c', 30],
      ['a', 10],
      ['b1', 20],
      ['b2', 20],
      ['d', 40],
    ] as const)
      queues.set(new Item(name), 'q', ms);
    queues.set(new Item('other'), 'p', 1);
    expect(namesIn(queues.due('q', 30, 9))).toEqual(['a', 'b1', 'b2', 'c']);
    expect([queues.count('q'), queues.count('nothing')]).toEqual([5, 0]);
    expect(namesIn(queues.due('q', 29, 2))).toEqual(['a', 'b1']);
    expect(queues.due('q', 9, 9)).toEqual([]);
    expect(queues.due('nothing', 9, 9)).toEqual([]);
    expect(namesIn(queues.items('q'))).toEqual(['a', 'b1', 'b2', 'c', 'd']);
    expect(namesIn(queues.items('nothing'))).toEqual([]);
  });

  it('has an item once, where it was put last', () => {
    const queues = new PriorityQueues<Item>();
    const [a, b] = [new Item('a'), new Item('b')];
    queues.delete(a);
    queues.set(a, 'q', 10);
    queues.set(b, 'q', 10);
    queues.set(a, 'q', 10);
    expect(namesIn(queues.items('q'))).toEqual(['b', 'a']);
    queues.set(a, 'p', 5);
    expect([namesIn(queues.items('q')), namesIn(queues.items('p'))]).toEqual([['b'], ['a']]);
    queues.delete(b);
    queues.delete(b);
    expect(namesIn(queues.items('q'))).toEqual([]);
    queues.set(b, 'q', 1);
    expect(namesIn(queues.items('q'))).toEqual(['b']);
    // Other queues leave it alone.
    new PriorityQueues<Item>().delete(b);
    expect(namesIn(queues.items('q'))).toEqual(['b']);
    queues.delete(b);
    expect(namesIn(queues.items('q'))).toEqual([]);
  });

  it('finds an item that came before one that is due earlier', () => {
    const queues = new PriorityQueues<Item>();
    const [late, early] = [new Item('late'), new Item('early')];
    queues.set(late, 'q', 20);
    queues.set(early, 'q', 10);
    queues.delete(late);
    expect(namesIn(queues.items('q'))).toEqual(['early']);
  });
});
