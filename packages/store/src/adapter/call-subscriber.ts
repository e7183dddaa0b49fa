/**
 * Calls a function that was given to `subscribe`. An adapter notifies with it: what a subscriber throws becomes an
 * uncaught exception of the process, as with `EventTarget`, and neither rejects a commit that is stored nor keeps
 * other subscribers from being notified.
 */
export function callSubscriber(notify: (version?: number) => void, version?: number): void {
  try {
    notify(version);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
