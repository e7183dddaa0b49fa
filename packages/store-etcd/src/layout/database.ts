import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterClock } from './cluster-clock.ts';
import type { Keys } from './keys.ts';

/** The keys of a store in a cluster. */
export interface Database {
  readonly cluster: Cluster;
  readonly keys: Keys;
  readonly clock: ClusterClock;
}
