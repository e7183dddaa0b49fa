import { createStore } from '@batonjs/store/adapter';
import { onTestFinished } from 'vitest';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { etcdRows } from '../src/etcd-store.ts';
import { keysOf } from '../src/layout/keys.ts';
import type { TxnRequest } from '../src/wire/messages.ts';

/** A cluster where something can happen right before or after a transaction. */
class InterruptedCluster extends Cluster {
  before: { readonly text: string; readonly act: () => Promise<unknown> } | undefined;
  after: { readonly text: string; readonly act: () => Promise<unknown> } | undefined;

  /** As if an earlier attempt of each transaction had got no answer. */
  isRepeated = false;

  override async transact(request: TxnRequest) {
    const text = JSON.stringify(request);
    const { before, after } = this;
    if (before && text.includes(before.text)) {
      this.before = undefined;
      await before.act();
    }
    const answer = await super.transact(request);
    if (after && text.includes(after.text)) {
      this.after = undefined;
      await after.act();
    }
    return this.isRepeated ? { ...answer, isRepeated: true } : answer;
  }
}

/** A store in a cluster where something can happen around a transaction that names a key. */
export function openInterrupted(urls: readonly string[], prefix: string) {
  const connections = connectionsTo(urls, undefined);
  const cluster = new InterruptedCluster(connections, 20_000);
  const keys = keysOf(prefix);
  const store = createStore('etcd', etcdRows(cluster, keys, undefined));
  onTestFinished(() => store.close());
  return { store, cluster, keys };
}
