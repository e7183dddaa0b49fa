import { Subscribers } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { Groups } from '../src/groups.ts';

describe('nothing is left', () => {
  it('of a group without members', () => {
    const groups = new Groups<string, number>();
    groups.add('a', 1);
    groups.add('a', 2);
    groups.delete('a', 1);
    groups.delete('b', 1);
    expect([groups.size, [...groups.get('a')]]).toEqual([1, [2]]);
    groups.delete('a', 2);
    expect([groups.size, [...groups.get('a')]]).toEqual([0, []]);
  });

  it('of watchers that stopped', async () => {
    const subscribers = new Subscribers();
    const stops = Array.from({ length: 1_000 }, (_, n) =>
      subscribers.add({ scope: 's', taskId: `t${n % 10}` }, () => {}),
    );
    expect(subscribers.topics.length).toBe(10);
    for (const stop of stops) await stop();
    expect(subscribers.topics.length).toBe(0);
  });
});
