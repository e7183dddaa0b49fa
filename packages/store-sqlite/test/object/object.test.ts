import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkerd } from '../../../../test/runtimes/workerd-process.ts';
import { durableObjectStore } from '../../src/durable-object.ts';
import { storeError } from '../../src/object/object-storage.ts';
import { alarmCases } from './alarm-cases.ts';
import { cases } from './object-cases.ts';

let workerd: Awaited<ReturnType<typeof startWorkerd>>;
beforeAll(async () => {
  workerd = await startWorkerd({
    module: new URL('./cases-worker.ts', import.meta.url),
    classes: { Alarmed: 'Alarmed', Unalarmed: 'Unalarmed', Unqueried: 'Unqueried' },
    withoutSql: ['Unqueried'],
    node: true,
  });
});
afterAll(() => workerd[Symbol.asyncDispose]());

async function passes(search: Readonly<Record<string, string>>): Promise<void> {
  // workerd closes a connection that was idle for a while, perhaps just when the next request is sent on it.
  const headers = { connection: 'close' };
  const answer = await fetch(`${workerd.url}/?${new URLSearchParams(search)}`, { headers });
  expect(await answer.text(), workerd.output).toBe('');
  expect(answer.status).toBe(200);
}

describe('a store on the storage of a Durable Object', () => {
  it.each(Object.keys({ ...cases, ...alarmCases }))('%s', (title) => passes({ class: 'Alarmed', title }));

  it('says what to add to a class without the method `alarm`, once it needs one', () =>
    passes({ class: 'Unalarmed' }));

  it('refuses an object without SQLite, and says what to change', () => passes({ class: 'Unqueried' }));

  it('refuses a time of recovery that is none', () => {
    for (const recoverAfterMs of [0, -1, Number.NaN, 86_400_001, Number.POSITIVE_INFINITY])
      expect(() => durableObjectStore({} as never, { recoverAfterMs })).toThrow(RangeError);
  });

  it('says why nothing more can be stored in a full database', () => {
    // Filling 10 GB would take too long.
    const full = storeError(new Error('database or disk is full: SQLITE_FULL'));
    expect(full).toMatchObject({
      code: 'UNAVAILABLE',
      trouble: 'disk-full',
      message: expect.stringContaining('is full'),
    });
  });
});
