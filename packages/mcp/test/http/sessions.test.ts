import { expect, it } from 'vitest';
import { Sessions } from '../../src/http/sessions.ts';

/** Sessions, at most so many, whose servers note when they are closed. */
function sessions(most: number) {
  const kept = new Sessions(most);
  const closed: string[] = [];
  const begin = (id: string, caller = 'ada') =>
    kept.add(id, {
      caller,
      transport: {} as never,
      server: {
        async close() {
          closed.push(id);
        },
      } as never,
    });
  return { kept, closed, begin };
}

it('a session is that of its caller, until it is removed', () => {
  const { kept, begin, closed } = sessions(1);
  begin('a');
  expect(kept.get('a', 'ada')).toMatchObject({ caller: 'ada' });
  expect(kept.get('a', 'mallory')).toBeUndefined();
  expect(kept.get('b', 'ada')).toBeUndefined();
  kept.remove('a');
  expect(kept.get('a', 'ada')).toBeUndefined();
  // Whoever removes a session closes it.
  begin('b');
  expect(closed).toEqual([]);
});

it('the least recently used session of the caller with the most makes room, and is closed', () => {
  const { kept, begin, closed } = sessions(4);
  begin('bob 1', 'bob');
  for (const id of ['ada 1', 'ada 2', 'ada 3']) begin(id);
  kept.get('ada 1', 'ada');
  expect(closed).toEqual([]);
  begin('bob 2', 'bob');
  expect(closed).toEqual(['ada 2']);
  expect(kept.get('ada 2', 'ada')).toBeUndefined();
  for (const [id, caller] of [
    ['bob 1', 'bob'],
    ['ada 1', 'ada'],
    ['ada 3', 'ada'],
    ['bob 2', 'bob'],
  ])
    expect(kept.get(id!, caller!)).toBeDefined();
});

it('a look at the session of another caller is no use of it', () => {
  const { kept, begin, closed } = sessions(2);
  begin('a');
  begin('b');
  kept.get('a', 'mallory');
  begin('c');
  expect(closed).toEqual(['a']);
});

it('all sessions end together', async () => {
  const { kept, begin, closed } = sessions(2);
  begin('a');
  begin('b');
  await kept.close();
  expect(closed).toEqual(['a', 'b']);
  expect(kept.get('a', 'ada')).toBeUndefined();
});

it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('no number of sessions is %s', (most) => {
  expect(() => new Sessions(most)).toThrow(new RangeError(`sessions is an integer above 0, not ${most}`));
});
