import { expect, it } from 'vitest';
import { mapRows, Tables } from '../../../../test/add-a-store/map-store.ts';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { createStore, type Rows } from '../../src/adapter.ts';

const name = { scope: 's', taskId: 't' };
const every: Rows['every'] = () => ({ rows: [], next: undefined });

it('reads a key with the fact of which the store has it, whichever others tell it', async () => {
  const store = createStore('of keys', { ...mapRows(new Tables(), Date.now), every });
  const facts = [{ format: 1, at: '2026-01-01T00:00:00.000Z', type: 'cancel-requested' } as const];
  for (const [n, once] of [undefined, 'cancel', undefined].entries())
    await store.commit(chunkAfter(n, { facts, ...(once !== undefined && { once }) }));
  const read = await store.transfer!.facts(name, 0, 9);
  expect(read.map(({ once }) => once)).toEqual([undefined, 'cancel', undefined]);
});

it('reads a task that is written or deleted between two looks as it was at one moment', async () => {
  const rows = mapRows(new Tables(), Date.now);
  let between: (() => unknown) | undefined;
  const then = <Args extends readonly unknown[], T>(look: (...args: Args) => T) =>
    (async (...args: Args) => {
      const found = await look(...args);
      await between?.();
      return found;
    }) as unknown as (...args: Args) => T;
  const { transfer } = createStore('raced', { ...rows, every, read: then(rows.read), log: then(rows.log) });
  const others = createStore('others', rows);
  await others.commit(chunkAfter(0));
  let version = 1;
  between = () => {
    version++;
    const snapshot = { format: 1, version, state: {} } as never;
    return others.commit(chunkAfter(version - 1, { snapshot }));
  };
  for (let n = 0; n < 2; n++) {
    const { row, snapshot } = (await transfer!.read(name))!;
    expect(row.head?.version).toBe(row.version);
    expect(snapshot?.version ?? 0).toBeLessThanOrEqual(row.version);
  }
  await others.commit(chunkAfter(version, { head: headAt(version + 1, { closed: true }) }));
  between = () => others.erase?.('s', 't');
  expect(await transfer!.read(name)).toBe(undefined);
});
