import type { AgentClient, AgentEvent, MessageInput, SendOptions, TaskStream } from '@batonjs/client';

/** A message that was sent, and the events of its answer. */
export interface CancelableStream {
  /** What the events add up to. Read `events` instead of it. */
  readonly stream: TaskStream;
  /**
   * Ends as well where a person has to authorize something, for which an agent may wait long. Throws the reason of the
   * signal at once when it is aborted. Iterate it once.
   */
  readonly events: AsyncGenerator<AgentEvent, void, void>;
}

/** How many milliseconds an aborted call waits for the event that names the task to cancel. */
const namedWithinMs = 10_000;

/**
 * Sends a message when its events are read. Aborting `options.signal` cancels the task, also one that the agent has not
 * named yet: the stream stays open until it does, for at most ten seconds.
 */
export function cancelableStream(
  client: AgentClient,
  message: MessageInput,
  options: SendOptions,
): CancelableStream {
  const { signal, task } = options;
  const stop = new AbortController();
  const stream = client.stream(message, { ...options, signal: stop.signal });
  const known = typeof task === 'string' ? task : task?.id;
  const events = stream[Symbol.asyncIterator]();

  /** Ends the requests of the stream, which may have ended before. */
  const close = () => {
    stop.abort();
    events.return().catch(() => {});
  };

  /** Cancels the task, whose caller has left. It may have ended, or its agent may be out of reach. */
  async function cancel(first: Promise<unknown>): Promise<void> {
    const timer = setTimeout(() => stop.abort(), namedWithinMs);
    // Without a task, the first event says what to cancel.
    await first.catch(() => {});
    clearTimeout(timer);
    close();
    const id = stream.task?.id ?? known;
    if (id !== undefined) await client.cancelTask({ id }).catch(() => {});
  }

  async function* followed(): AsyncGenerator<AgentEvent, void, void> {
    signal?.throwIfAborted();
    const left = Promise.withResolvers<undefined>();
    const onAbort = () => {
      left.resolve(undefined);
      if (stream.task ?? known) stop.abort(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort);
    const first = events.next();
    try {
      const event = await Promise.race([first, left.promise]);
      signal?.throwIfAborted();
      if (!event || event.done) return;
      for (let next: IteratorResult<AgentEvent, void> = event; !next.done; next = await events.next()) {
        yield next.value;
        if (stream.task?.status.state === 'TASK_STATE_AUTH_REQUIRED') return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (signal?.aborted) void cancel(first);
      else close();
    }
  }
  return { stream, events: followed() };
}
