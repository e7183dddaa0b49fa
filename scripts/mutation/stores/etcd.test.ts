import { randomUUID } from 'node:crypto';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { etcdStore } from '@batonjs/store-etcd';

/** On the etcd of the run. */
function open() {
  const urls = [process.env.ETCD_URL!];
  const options = { prefix: `mutated/${randomUUID()}`, timeoutMs: 20_000 };
  const store = etcdStore(urls, options);
  const reopen = async () => {
    await store.close();
    return etcdStore(urls, options);
  };
  return { store, reopen, second: etcdStore(urls, options) };
}

describeTaskStore('etcdStore', open, { runs: 2 });
describePushConfigStore('etcdStore', open, { runs: 2 });
