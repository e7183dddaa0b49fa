import { expect, it } from 'vitest';
import { Subscribers, topicNumber } from '../../src/adapter.ts';

it('subscribers are notified of their topic only, and nothing is left of one that unsubscribed', () => {
  const subscribers = new Subscribers();
  const seen: unknown[] = [];
  const note = (name: string) => (version?: number) => void seen.push([name, version]);
  const topics = {
    task: { scope: 's', taskId: 't' },
    other: { scope: 's', taskId: 'u' },
    elsewhere: { scope: 'r', taskId: 't' },
    queue: { queue: 's\0t' },
    otherQueue: { queue: 'p' },
  };
  expect(subscribers.isEmpty).toBe(true);
  const ends = Object.entries(topics).map(([name, topic]) => subscribers.add(topic, note(name)));
  expect([subscribers.topics.length, subscribers.isEmpty]).toEqual([5, false]);
  subscribers.notifyOf(Object.values(topics).map((topic) => ({ ...topic, version: 7 })));
  expect(seen).toEqual(Object.keys(topics).map((name) => [name, 7]));
  subscribers.notifyAll();
  expect(seen.splice(5)).toEqual(Object.keys(topics).map((name) => [name, undefined]));
  for (const end of ends) end();
  subscribers.notifyOf(Object.values(topics));
  subscribers.notifyOf();
  expect([seen.length, subscribers.topics.length]).toEqual([5, 0]);

  const twice = note('twice');
  const [first] = [1, 2].map(() => subscribers.add(topics.task, twice));
  first!();
  first!();
  subscribers.notify(topicNumber(topics.task), 8);
  expect(seen.slice(5)).toEqual([['twice', 8]]);
});

it('a subscriber that another one ends is not notified any more', () => {
  const subscribers = new Subscribers();
  const seen: string[] = [];
  const topic = { scope: 's', taskId: 't' };
  let end = () => {};
  subscribers.add(topic, () => {
    seen.push('first');
    end();
  });
  end = subscribers.add(topic, () => void seen.push('second')) as () => void;
  subscribers.notify(topicNumber(topic));
  expect(seen).toEqual(['first']);
});

it('subscribers are notified of what another process has told, with its versions', () => {
  const subscribers = new Subscribers();
  const seen: unknown[] = [];
  const [task, queue] = [{ scope: 's', taskId: 't' }, { queue: 'q' }];
  subscribers.add(task, (version) => seen.push(['task', version]));
  subscribers.add(queue, (version) => seen.push(['queue', version]));
  subscribers.notifyPairs([topicNumber(task), 7, topicNumber({ queue: 'p' }), 9, topicNumber(queue), null]);
  expect(seen).toEqual([
    ['task', 7],
    ['queue', undefined],
  ]);
});
