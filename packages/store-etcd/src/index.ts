export type { EtcdTls } from './cluster/connections.ts';
export { type EtcdStoreOptions, etcdStore } from './etcd-store.ts';
