let timer: { ref?(): void; unref?(): void } | undefined;

/**
 * Work that a caller or a task waits for, and that holds the process. Node.js ends a process in the middle of an `await`
 * when nothing but promises and idle timers are left. Who begins counts up, and calls `hold` at the first; who ends counts
 * down, and calls `letGo` at the last: a function for each would be entered with every fact.
 */
export const work = {
  count: 0,
  hold(): void {
    timer ??= holdingTimer();
    timer.ref?.();
  },
  letGo(): void {
    timer?.unref?.();
  },
};

/** One for all, because it costs less to hold and to let go of a timer than to make one. */
function holdingTimer(): NonNullable<typeof timer> {
  const made: ReturnType<typeof setInterval> & { unref?: () => void } = setInterval(() => {}, 2 ** 31 - 1);
  // Where timers are numbers, nothing lets go of one.
  if (!made.unref) clearInterval(made);
  return made;
}
