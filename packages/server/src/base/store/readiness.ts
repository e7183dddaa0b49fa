import { StoreError, type TaskStore } from '@batonjs/store';
import type { Clock } from '../timing/clock.ts';
import type { Peers } from './peers.ts';
import type { QueueOwners } from './queue-owners.ts';
import { unservedText, type Versions } from './versions.ts';

/** Whether a server can do its work, for its operators: the message may hold names of files and hosts. */
export type Readiness =
  | {
      readonly isReady: true;
      /** What an operator should look after: tasks that wait for a version that no process runs, options that differ. */
      readonly warning?: string;
    }
  | {
      readonly isReady: false;
      /**
       * `closing`: the server closes. `failing`: the store does not answer, or fails for an unnamed reason. `refused`: the
       * tasks of its name are those of another agent, or the store cannot be used as it is, such as one of another release.
       */
      readonly reason: NonNullable<StoreError['trouble']> | 'closing' | 'failing' | 'refused';
      readonly message: string;
    };

/** The parts of a server that its readiness depends on. */
export interface ReadinessSource {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly isOpen: () => boolean;
  readonly owners: Pick<QueueOwners, 'refusal'>;
  readonly versions: Pick<Versions, 'unserved'> | undefined;
  readonly peers: Pick<Peers, 'differences'> | undefined;
}

/** The store is probed at most once in this many milliseconds. */
const probeEveryMs = 1_000;

const ready: Readiness = { isReady: true };
const closing: Readiness = { isReady: false, reason: 'closing', message: 'The server is closing' };

/** Returns a function that checks whether the server can do its work. The store logs its outages itself. */
export function createReadiness({ store, clock, isOpen, owners, versions, peers }: ReadinessSource) {
  let known = ready;
  let knownUntil = Number.NEGATIVE_INFINITY;
  let probing: Promise<void> | undefined;

  async function probe(): Promise<void> {
    try {
      await (store.probe ? store.probe() : store.ping());
      // A newer release may have brought the data to a layout that this one does not read.
      await store.identity();
      const message = await owners.refusal();
      const unserved = versions && unservedText(await versions.unserved());
      const warning = [unserved, await peers?.differences(probeEveryMs)].filter(Boolean).join('; ');
      known =
        message === undefined
          ? warning
            ? { isReady: true, warning }
            : ready
          : { isReady: false, reason: 'refused', message };
    } catch (error) {
      const usual = StoreError.is(error, 'UNUSABLE') ? 'refused' : 'failing';
      const { trouble: reason = usual, message } = error as Error & {
        trouble?: NonNullable<StoreError['trouble']>;
      };
      known = { isReady: false, reason, message: String(message) };
    }
    knownUntil = clock.monotonic() + probeEveryMs;
    probing = undefined;
  }

  return async (): Promise<Readiness> => {
    if (!isOpen()) return closing;
    if (!probing && clock.monotonic() >= knownUntil) probing = probe();
    await probing;
    return isOpen() ? known : closing;
  };
}
