import type { LiveTask } from './live-task.ts';

/** Resolves when a task changes or when aborted, and leaves nothing behind on either. */
export function nextChange(live: LiveTask, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stopListening();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const stopListening = live.onChange(done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
