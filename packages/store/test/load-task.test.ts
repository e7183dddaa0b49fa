import { replay, toSnapshot } from '@batonjs/lifecycle';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { foldLog, loadTask } from '../src/index.ts';
import { diverged } from '../src/port/commit.ts';
import { append, create } from './a-log.ts';

describe('loadTask', () => {
  it('knows nothing of a task that is not there', async () => {
    expect(await loadTask(memoryStore(), 's', 't')).toBeUndefined();
  });

  it('is the state of the whole log, whatever was appended openly', async () => {
    const store = memoryStore();
    await create(store);
    await append(store, 2);
    const state = await loadTask(store, 's', 't');
    expect(state).toMatchObject({ version: 4, task: { id: 't', status: { state: 'TASK_STATE_SUBMITTED' } } });
    const facts = (await store.readFacts('s', 't', 0, 9)).map(({ fact }) => fact);
    expect(state).toEqual(replay(facts));
  });

  it('starts from the snapshot if there is one', async () => {
    const store = memoryStore();
    await create(store);
    const facts = (await store.readFacts('s', 't', 0, 9)).map(({ fact }) => fact);
    const other = memoryStore();
    await create(other, { snapshot: toSnapshot(replay(facts)!) });
    await append(other, 1);
    const log = (await other.load('s', 't'))!;
    expect(log.facts).toHaveLength(1);
    expect(foldLog(log)).toMatchObject({ version: 3, task: { id: 't' } });
  });

  it('folds the facts in place of a snapshot that only a newer release reads', async () => {
    const store = memoryStore();
    await create(store);
    const facts = (await store.readFacts('s', 't', 0, 9)).map(({ fact }) => fact);
    const other = memoryStore();
    const snapshot = { ...toSnapshot(replay(facts)!), format: 2 as never };
    await create(other, { snapshot: { ...snapshot, state: {} as never } });
    await append(other, 1);
    const log = (await other.load('s', 't'))!;
    expect(log.snapshot).toBeUndefined();
    expect(foldLog(log)).toMatchObject({ version: 3, task: { id: 't' } });
  });

  it('refuses a log of a newer release', async () => {
    const store = memoryStore();
    await create(store);
    const log = (await store.load('s', 't'))!;
    const facts = log.facts.map((stored) => ({ ...stored, fact: { ...stored.fact, format: 2 } }));
    expect(() => foldLog({ ...log, facts: facts as never })).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_FACT' }),
    );
  });
});

it('a log that lost what a reader knows is refused by name and position', () => {
  expect(diverged('t', 7)).toMatchObject({
    name: 'StoreError',
    code: 'LOG_DIVERGED',
    message: 'The log of task t does not hold what it held at 7',
  });
});
