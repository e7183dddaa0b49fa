import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { type QueueOwners, queueOwners } from '../../../src/base/store/records.ts';
import { systemClock } from '../../../src/base/timing/clock.ts';

const owners = (store: TaskStore, more: object = {}) =>
  queueOwners(
    { queue: 'q', card: 'Payments', url: undefined, ...more },
    { store, clock: systemClock, logger: () => {} },
  );

it('the agents of a queue are kept in a record, which no caller can name', async () => {
  const store = memoryStore();
  expect(await owners(store).refusal()).toBeUndefined();
  expect(await store.listRecords({ limit: 9 })).toMatchObject([
    { name: 'queue-owners/q', value: { queue: 'q', owners: [{ card: 'Payments' }] } },
  ]);
});

it('a store that fails is no other process that was faster', async () => {
  const failing = (error: StoreError | undefined, times: number) => {
    const store = memoryStore();
    let left = times;
    const putRecord: TaskStore['putRecord'] = async (...given) => {
      if (left-- <= 0) return store.putRecord(...given);
      if (error) throw error;
      return undefined;
    };
    return owners({ ...store, putRecord });
  };
  const down = new StoreError('UNAVAILABLE', 'down');
  const broken = failing(down, 1);
  await expect(broken.refusal()).rejects.toBe(down);
  expect(broken.isOurs).toBe(false);
  expect(await broken.refusal()).toBeUndefined();
  expect(broken.isOurs).toBe(true);
  expect(await failing(undefined, 2).refusal()).toBeUndefined();
});

it('claims nothing while the queue is that of another agent, and all that there is afterwards', async () => {
  const store = memoryStore();
  await owners(store).refusal();
  const asked: string[] = [];
  const note = (name: string) => async (_request: object) => {
    asked.push(name);
    return [];
  };
  const noting = { ...store, claim: note('claim'), claimDeliveries: note('claimDeliveries') };
  const use = async (user: QueueOwners, given: TaskStore) => {
    const guarded = user.guard(given as typeof noting);
    await guarded.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 } as never);
    await guarded.claimDeliveries?.({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 });
    return asked.splice(0);
  };
  expect(await use(owners(store, { card: 'Weather' }), noting)).toEqual([]);
  const mine = owners(store);
  expect(await use(mine, noting)).toEqual(['claim', 'claimDeliveries']);
  expect(await use(mine, noting)).toEqual(['claim', 'claimDeliveries']);
  const { claimDeliveries: _, ...tasksOnly } = noting;
  expect(await use(owners(store), tasksOnly)).toEqual(['claim']);
  expect(await use(owners(store, { card: undefined }), tasksOnly)).toEqual(['claim']);
});

it('an agent is remembered once for each of its public addresses, and known by any of them', async () => {
  const store = memoryStore();
  const kept = async () =>
    ((await store.getRecord('queue-owners/q'))?.value as { owners: object[] } | undefined)?.owners;
  const [one, two] = ['https://one.example', 'https://two.example'];
  const use = (card: string, url?: string) => owners(store, { card, url }).refusal();
  for (const url of [
    one,
    two,
    `${one}/`,
    two,
    undefined,
    'http://localhost:1',
    'http://127.0.0.1:1',
    'http://[::1]:1',
  ])
    expect(await use('Payments', url)).toBeUndefined();
  expect(await kept()).toEqual([
    { card: 'Payments', url: one },
    { card: 'Payments', url: two },
  ]);
  // The card changed its name, and after that the agent its address.
  expect(await use('Bills', two)).toBeUndefined();
  expect(await use('Bills')).toBeUndefined();
  expect((await kept())?.at(-1)).toEqual({ card: 'Bills', url: two });
  const refusal = await use('Weather', 'https://three.example');
  expect(refusal).toMatch(
    /^In this store the tasks named "q" are those of the agent "Bills" at https:\/\/two/,
  );
  expect(await kept()).toHaveLength(3);
});

it('an agent without a public address is known by its card alone, and named without one', async () => {
  const store = memoryStore();
  expect(await owners(store, { url: 'http://localhost:4000' }).refusal()).toBeUndefined();
  const refused = owners(store, { card: 'Weather', url: 'http://localhost:4000' });
  expect(await refused.refusal()).toMatch(/those of the agent "Payments": give "Weather"/);
  expect(refused.isOurs).toBe(false);
});
