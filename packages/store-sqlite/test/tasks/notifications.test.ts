import type { Commit } from '@batonjs/store';
import type { Topic } from '@batonjs/store/adapter';
import { expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/index.ts';
import { chunk, commitOf, complete, received } from '../logs.ts';

it('subscribers are notified of what can be read or claimed, and of nothing else', async () => {
  const store = sqliteStore(':memory:');
  onTestFinished(() => store.close());
  const told: string[] = [];
  const tell = (topic: Topic, name: string) =>
    store.subscribe(topic, (version) => void told.push(version === undefined ? name : `${name} ${version}`));
  await tell({ scope: 's', taskId: 't' }, 'task');
  await tell({ queue: 'q' }, 'queue');
  const toldBy = async (act: () => unknown) => {
    await act();
    return told.splice(0);
  };
  const commit = (version: number, more: Partial<Commit>) =>
    toldBy(() => store.commit(commitOf('t', version, [version === 0 ? received : chunk(version)], more)));
  const wanted = { turn: { queue: 'q', want: true } };
  const push = {
    ...{ scope: 's', taskId: 't', id: 'w', protocolVersion: '1.0', queue: 'q', cursor: 0 },
    config: { id: 'w', taskId: 't', url: 'https://example.com' },
  };

  expect(await commit(0, { turn: { queue: 'q' } })).toEqual(['task 1']);
  expect(await commit(1, wanted)).toEqual(['task 2', 'queue']);
  const [lease] = await store.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 });
  expect(await toldBy(() => store.renew([lease!], 60_000))).toEqual([]);
  expect(await commit(2, { writer: lease })).toEqual(['task 3']);
  // It waits for its turn only once its holder gives it back.
  expect(await commit(3, { writer: lease, ...wanted })).toEqual(['task 4']);
  const release = { facts: [], head: undefined, writer: lease, turn: { queue: 'q', release: true } };
  expect(await toldBy(() => store.commit({ ...commitOf('t', 4, []), ...release }))).toEqual([]);
  expect(await commit(4, wanted)).toEqual(['task 5', 'queue']);
  // It is waiting already.
  expect(await commit(5, {})).toEqual(['task 6']);
  await toldBy(() => store.putPushConfig(push));
  // A webhook has something to deliver, too.
  expect((await toldBy(() => complete(store, 't', 6))).toSorted()).toEqual(['queue', 'task 7']);
});
