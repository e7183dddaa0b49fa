import { onTestFinished } from 'vitest';

/** Closes a server or a worker when the test ends, and lets no turn go on. */
export function closedAfterTest<Closing extends { close(options: { graceMs: number }): unknown }>(
  closing: Closing,
): Closing {
  onTestFinished(async () => {
    await closing.close({ graceMs: 0 });
  });
  return closing;
}
