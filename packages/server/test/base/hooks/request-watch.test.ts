import { expect, it } from 'vitest';
import { RequestWatch } from '../../../src/base/hooks/request-watch.ts';

it('tells each watcher once that a request is over, also if its reader leaves after the last event', () => {
  const watch = new RequestWatch();
  const ends: string[] = [];
  const nothing = () => {};
  for (const name of ['one', 'other'])
    watch.add(() => ({
      ...{ named: nothing, calledBy: nothing, sent: nothing, answered: nothing, said: nothing },
      ended: () => void ends.push(name),
    }));
  const start = { method: 'GET', path: '/', query: new URLSearchParams(), headers: {} };
  const [first, second] = [watch.begin(start), watch.begin(start)];
  first.ended();
  first.ended();
  expect(ends).toEqual(['one', 'other']);
  second.ended();
  expect(ends).toEqual(['one', 'other', 'one', 'other']);
});
