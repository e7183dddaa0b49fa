import assert from 'node:assert/strict';
import { section } from '../fixture/check.ts';
import { logOf } from '../samples/log.ts';

export const identityChecks = section('identity', {
  async 'is a short text'({ store }) {
    const identity = await store.identity();
    assert.equal(typeof identity, 'string');
    assert.ok(identity.length >= 1 && identity.length <= 200, `has ${identity.length} characters`);
  },

  async 'is the same in every process on the data, however many ask first'({ store, second }) {
    const asked = await Promise.all([store.identity(), second.identity(), store.identity()]);
    assert.deepEqual(new Set(asked).size, 1, `differs: ${asked}`);
  },

  async 'stays the same while tasks are written, and after a restart'({ store, reopen }) {
    const before = await store.identity();
    await logOf(store).create();
    assert.equal(await store.identity(), before);
    assert.equal(await (await reopen()).identity(), before);
  },
});

export const pingChecks = section('ping', {
  async 'resolves in every process on the data, with and without tasks'({ store, second }) {
    await Promise.all([store.ping(), second.ping()]);
    await logOf(store).create();
    await Promise.all([store.ping(), second.ping()]);
  },
});

export const closeChecks = section('close', {
  async 'may be called again'({ store }) {
    await logOf(store).create();
    await store.close();
    await store.close();
  },
});
