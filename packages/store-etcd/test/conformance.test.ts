import { randomUUID } from 'node:crypto';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { afterAll, beforeAll, describe } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { canStartEtcd, startEtcd } from '../../../test/support/etcd.ts';
import { type RemoteStores, startStoreProcess } from '../../../test/support/remote-stores.ts';
import { etcdStore } from '../src/index.ts';

/** What three members add is tested by the failures of members, and here in `test:long`. */
const members = repetitions(1, 3);
const cluster = (await canStartEtcd()) ? await startEtcd({ members, inMemory: true }) : undefined;
afterAll(() => cluster?.stop());

describe.skipIf(!cluster)('etcd', () => {
  let other: RemoteStores;
  beforeAll(() => {
    other = startStoreProcess();
  });
  afterAll(() => other.kill());

  const inTwoProcesses = () => {
    // A busy machine answers late: no check is about that.
    const options = { prefix: `conformance/${randomUUID()}`, timeoutMs: 20_000 };
    const store = etcdStore(cluster!.urls, options);
    const reopen = async () => {
      await store.close();
      return etcdStore(cluster!.urls, options);
    };
    return { store, reopen, second: other.open('etcd', cluster!.urls, options) };
  };

  for (const describeStore of [describeTaskStore, describePushConfigStore])
    describeStore('etcdStore in two processes', inTwoProcesses, { runs: repetitions(4, 30) });
});
