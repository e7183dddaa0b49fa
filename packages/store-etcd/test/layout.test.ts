import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { openInterrupted } from './interrupted-store.ts';

const etcd = await etcdForTests();

it.skipIf(!etcd)('Keys of another layout are refused, and left as they are', async () => {
  const { store, cluster, keys } = openInterrupted(etcd!.urls, `layout/${randomUUID()}`);
  const value = JSON.stringify({ layout: 2, identity: 'another' });
  await cluster.transact({ success: [{ put: { key: keys.meta, value } }] });
  const refused = { code: 'UNUSABLE', message: expect.stringContaining('another release') };
  await expect(store.ping()).rejects.toMatchObject(refused);
  expect(String((await cluster.get(keys.meta))?.value)).toBe(value);
});
