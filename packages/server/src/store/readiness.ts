import type { StoreTrouble, TaskStore } from '@batonjs/store';
import type { Log } from '../hooks/log-hook.ts';
import type { Clock } from '../timing/clock.ts';

/** Whether a server can do its work, for its operators: the message may hold names of files and hosts. */
export type Readiness =
  | { readonly isReady: true }
  | {
      readonly isReady: false;
      /** `closing`: the server closes. `failing`: the store does not answer, or fails for an unnamed reason. */
      readonly reason: StoreTrouble | 'closing' | 'failing';
      readonly message: string;
    };

/** The parts of a server that its readiness depends on. */
export interface ReadinessSource {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly isOpen: () => boolean;
}

/** The store is probed at most once in this many milliseconds. */
const probeEveryMs = 1_000;

const ready: Readiness = { isReady: true };
const closing: Readiness = { isReady: false, reason: 'closing', message: 'The server is closing' };

/** Returns a function that checks whether the server can do its work. Logs when that changes, and not each time. */
export function createReadiness({ store, clock, log, isOpen }: ReadinessSource) {
  let known = ready;
  let knownUntil = Number.NEGATIVE_INFINITY;
  let probing: Promise<void> | undefined;

  async function probe(): Promise<void> {
    try {
      await (store.probe ? store.probe() : store.ping());
      if (!known.isReady) log('info', 'The store takes writes again', {});
      known = ready;
    } catch (error) {
      const { trouble: reason = 'failing', message } = error as Error & { trouble?: StoreTrouble };
      if (known.isReady || known.reason !== reason)
        log('error', 'The store takes no writes', { reason, error });
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
