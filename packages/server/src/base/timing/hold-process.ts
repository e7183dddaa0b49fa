let held = 0;
let timer: { ref?(): void; unref?(): void } | undefined;

/**
 * Holds the process for work that a caller or a task waits for, until `letProcessEnd` was called as often. Node.js ends a
 * process in the middle of an `await` when nothing but promises and idle timers are left.
 */
export function holdProcess(): void {
  if (held++ > 0) return;
  timer ??= holdingTimer();
  timer.ref?.();
}

/** The work of one `holdProcess` is over. */
export function letProcessEnd(): void {
  if (--held === 0) timer?.unref?.();
}

/** One for all, because it costs less to hold and to let go of a timer than to make one. */
function holdingTimer(): NonNullable<typeof timer> {
  const made: ReturnType<typeof setInterval> & { unref?: () => void } = setInterval(() => {}, 2 ** 31 - 1);
  // Where timers are numbers, nothing lets go of one.
  if (!made.unref) clearInterval(made);
  return made;
}
