import type { Clock } from '../options/clock.ts';

/** How long a connection may go on after the end of its task, in milliseconds. */
const lateMs = 250;

/** The events of a connection, with those that an agent sends after the end of the task: some send its artifacts then. */
export async function* withLate<Event>(
  events: AsyncIterable<Event>,
  { isOver, clock }: { readonly isOver: () => boolean; readonly clock: Clock },
): AsyncGenerator<Event, void, void> {
  const iterator = events[Symbol.asyncIterator]();
  const silence = new AbortController();
  let isSilent = false;
  try {
    for (;;) {
      const reading = iterator.next();
      const next = await (isOver() ? Promise.race([reading, clock.sleep(lateMs, silence.signal)]) : reading);
      isSilent = !next;
      if (!next || next.done) return;
      yield next.value;
    }
  } catch (error) {
    // The task has ended, and so may its connection, in any way.
    if (!isOver()) throw error;
  } finally {
    silence.abort();
    const closed = iterator.return?.();
    // A read that is under way may never end: the caller breaks the connection.
    if (isSilent) closed?.catch(() => {});
    else await closed;
  }
}
