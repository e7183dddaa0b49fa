import { setTimeout as sleep } from 'node:timers/promises';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { Inspection } from '../../src/inspection.ts';
import { overviewOf } from '../../src/tasks/overview.ts';

/** So many agents; the store of each is slower than a refresh may be, and says when it is counted. */
function slowAgents(count: number, asked: number[]) {
  const agents = Array.from({ length: count }, (_, n) => {
    const store = memoryStore();
    return {
      name: `agent-${n}`,
      store: {
        ...store,
        async measure(queue: string) {
          asked.push(n);
          await sleep(10);
          return store.measure!(queue);
        },
      },
    };
  });
  return new Inspection(agents).agents;
}

it('of many agents, those that were counted longest ago are counted again, each in its turn', async () => {
  const asked: number[] = [];
  const agents = slowAgents(10, asked);
  const refresh = async () => {
    asked.length = 0;
    expect(Object.keys(await overviewOf(agents))).toHaveLength(10);
    return [...asked];
  };
  expect(await refresh()).toHaveLength(10);
  const rounds = [await refresh(), await refresh(), await refresh(), await refresh(), await refresh()];
  expect(rounds.map(({ length }) => length)).toEqual([4, 4, 4, 4, 4]);
  expect(new Set(rounds.slice(0, 3).flat()).size).toBe(10);
  expect(rounds.flat().slice(10)).toEqual(rounds.flat().slice(0, 10));
});

it('of a few agents all are counted each time', async () => {
  const asked: number[] = [];
  const agents = slowAgents(4, asked);
  await overviewOf(agents);
  await overviewOf(agents);
  expect(asked.toSorted()).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
});

it('a store that never answers has no counts, and holds up neither the others nor what is asked of all', async () => {
  const never = () => new Promise<never>(() => {});
  const { agents } = new Inspection([
    { name: 'well', store: memoryStore() },
    ...['a', 'b', 'c'].map((name) => ({ name, store: { ...memoryStore(), listRecords: never } })),
    ...['d', 'e', 'f'].map((name) => ({ name, store: { ...memoryStore(), measure: never } })),
  ]);
  for (let n = 0; n < 2; n += 1) expect(Object.keys(await overviewOf(agents))).toEqual(['well']);
  expect(await Promise.all(agents.map(({ store }) => store!.refresh()))).toHaveLength(7);
});
