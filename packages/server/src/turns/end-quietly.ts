/**
 * Ends the updates of an agent. Not awaited: an agent that never returns must not keep the task. Errors that it throws now
 * are ignored.
 */
export function endQuietly(updates: AsyncIterator<unknown>): void {
  try {
    Promise.resolve(updates.return?.()).catch(() => {});
  } catch {
    // See above.
  }
}
