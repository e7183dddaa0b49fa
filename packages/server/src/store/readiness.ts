import type { StoreTrouble, TaskStore } from '@batonjs/store';
import type { Log } from '../hooks/log-hook.ts';
import type { Clock } from '../timing/clock.ts';

/** Whether a server can do its work, for the people who run it: the message may hold names of files and hosts. */
export type Readiness =
  | { readonly isReady: true }
  | {
      readonly isReady: false;
      /** `closing`: the server is. `failing`: the store does not answer, or fails for another reason than the named ones. */
      readonly reason: StoreTrouble | 'closing' | 'failing';
      readonly message: string;
    };

export interface ReadinessSettings {
  readonly store: TaskStore;
  readonly queue: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly isOpen: () => boolean;
}

/** The store is asked once in so many milliseconds, however often the server is. */
const probeEveryMs = 1_000;

const ready: Readiness = { isReady: true };
const closing: Readiness = { isReady: false, reason: 'closing', message: 'The server is closing' };

/** Returns what finds out whether the server can do its work. Logs when that changes, and not each time. */
export function createReadiness({ store, queue, clock, log, isOpen }: ReadinessSettings) {
  let known = ready;
  let knownUntil = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    try {
      await (store.probe ? store.probe() : store.waiting(queue));
      if (!known.isReady) log('info', 'The store takes writes again', {});
      known = ready;
    } catch (error) {
      const { trouble: reason = 'failing', message } = error as Error & { trouble?: StoreTrouble };
      if (known.isReady || known.reason !== reason)
        log('error', 'The store takes no writes', { reason, error });
      known = { isReady: false, reason, message: String(message) };
    }
    knownUntil = clock.monotonic() + probeEveryMs;
    looking = undefined;
  }

  return async (): Promise<Readiness> => {
    if (!isOpen()) return closing;
    if (!looking && clock.monotonic() >= knownUntil) looking = look();
    await looking;
    return isOpen() ? known : closing;
  };
}
