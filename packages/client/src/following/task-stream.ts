import type { SendMessageRequest, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { guardHook } from '@batonjs/protocol/hooks';
import { ClientError } from '../client-error.ts';
import { startDeadline } from '../connection/call-deadline.ts';
import { outOfReach, sendAgain, startRetries } from '../connection/retries.ts';
import type { PositionedEvent, Session } from '../connection/session.ts';
import type { CallOptions, Clock } from '../options/connect-options.ts';
import { type AgentEvent, type AgentReply, isInterrupted, isTerminal } from '../replies/agent-reply.ts';
import { isAtOrBefore } from './positions.ts';
import { pollTask, streamTask } from './task-source.ts';
import { TaskView } from './task-view.ts';

/** Options of a followed task. */
export interface FollowOptions extends CallOptions {
  /** Continue after this position: the `lastEventId` of an earlier stream of the same task. */
  readonly lastEventId?: string | undefined;
  /** Milliseconds between two reads of a task that cannot be streamed. Default 500; it grows up to tenfold. */
  readonly pollMs?: number | undefined;
  /**
   * Milliseconds without contact after which the stream fails with `NETWORK`; the message says how to continue later.
   * Default 60,000; 0 fails at the first failure, `Infinity` never. A connection that lasts one second counts as contact.
   */
  readonly followForMs?: number | undefined;
  /** Is called when a connection is open: the first one, and each one after a broken one. Not while the client polls. */
  readonly onOpen?: (() => void) | undefined;
  /** Is called when a connection broke or could not be made, before the client tries again or gives up. */
  readonly onBreak?: ((error: unknown) => void) | undefined;
}

/** The start of a stream: a message to send, or an existing task. One that `hasEnded` is only read. */
export type StreamStart =
  | { readonly request: SendMessageRequest; readonly taskId?: undefined; readonly hasEnded?: undefined }
  | { readonly request?: undefined; readonly taskId: string; readonly hasEnded?: boolean };

const ended = () => new ClientError('NETWORK', 'The stream ended before the task did');

/**
 * The events of a task, each one once, across broken connections and restarts of its server. Iterate it once.
 *
 * After a broken connection, the stream reconnects and continues after the last event. If the agent cannot replay the
 * missed events, the stream yields a `task` event, which replaces everything before it. If the agent cannot stream,
 * the stream polls the task. It ends when the task ends, and after a message also when the task waits for an answer.
 * It fails when the agent cannot be reached for `followForMs`. Spec: §3.1.2, §3.1.6.
 */
export class TaskStream implements AsyncIterable<AgentEvent> {
  readonly #session: Session;
  readonly #options: FollowOptions;
  readonly #view = new TaskView();
  readonly #events: AsyncGenerator<AgentEvent, void, void>;
  #lastEventId: string | undefined;
  /** Whether the stream continues after a position, so that the view lacks what came before. */
  #isPartial: boolean;

  constructor(session: Session, start: StreamStart, options: FollowOptions) {
    this.#session = session;
    // Servers send a heartbeat at least every 30 seconds.
    this.#options = { idleTimeoutMs: 120_000, ...options };
    this.#lastEventId = options.lastEventId;
    this.#isPartial = options.lastEventId !== undefined;
    this.#events = this.#follow(start);
  }

  /** The current task. Later events change this object: use `structuredClone` to keep a copy. */
  get task(): Task | undefined {
    return this.#view.task;
  }

  /** The last position, after which another process can continue; undefined if the agent sends no positions. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** Reads to the end and resolves to the result, like `send`. The task is complete even if `lastEventId` was given. */
  async result(): Promise<AgentReply> {
    for await (const _ of this);
    const { task, message } = this.#view;
    if (task && this.#isPartial) {
      // Read as a stream is: the agent may be gone right after its last event.
      const { lastEventId: _, ...options } = this.#options;
      return new TaskStream(this.#session, { taskId: task.id, hasEnded: true }, options).result();
    }
    if (task) return { task };
    if (message) return { message };
    throw new A2AError('INVALID_AGENT_RESPONSE');
  }

  [Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, void> {
    return this.#events;
  }

  async *#follow(start: StreamStart): AsyncGenerator<AgentEvent, void, void> {
    const { settings, card } = this.#session;
    const { clock } = settings;
    const view = this.#view;
    const opened = guardHook('onOpen', this.#options.onOpen);
    const broke = guardHook('onBreak', this.#options.onBreak);
    const sent = start.request;
    const isSending = sent !== undefined;
    const continued = sent?.message.taskId;
    const pollMs = this.#options.pollMs ?? 500;
    const { signal } = this.#options;
    const deadline = startDeadline({ signal, timeoutMs: 0 }, settings, this.#session.address);
    const options = { ...this.#options, signal: deadline.signal };
    const forMs = this.#options.followForMs ?? settings.followForMs;
    const bound = { forMs, giveUp: (error: unknown) => this.#outOfReach(start, forMs, error) };
    const retriesOf = (operation: 'SendStreamingMessage' | 'SubscribeToTask', call: CallOptions) =>
      startRetries(this.#session, operation, {}, call, deadline.signal, bound);
    let retries = isSending ? retriesOf('SendStreamingMessage', options) : retriesOf('SubscribeToTask', {});
    // Set until an event shows that the message arrived.
    let request = sent;
    let mustPoll = start.hasEnded || (settings.checkCapabilities && !card.capabilities?.streaming);
    let isPolling = mustPoll;
    let isResumed = false;
    // The agent may have asked a question before it read the message. A server that sends positions closes the stream
    // once it has answered the message, so the client waits for that. It cannot rely on other servers to do so.
    let isAmbiguous = false;
    let pause = pollMs;
    const isOver = () => view.task !== undefined && isTerminal(view.task);
    try {
      for (;;) {
        const since = clock.now();
        let failure: unknown;
        let isFirst = false;
        let isOpen = false;
        let isEmpty = true;
        try {
          const id = start.taskId ?? view.task?.id ?? continued ?? '';
          const isReply = request !== undefined;
          const read = isPolling ? pollTask : streamTask;
          const events = read(this.#session, id, request, {
            ...options,
            lastEventId: this.#lastEventId,
            onOpen: () => {
              isOpen = true;
              opened();
            },
          });
          for await (const positioned of isPolling ? events : withLate(events, { isOver, clock })) {
            isEmpty = false;
            isFirst = isReply && !view.task;
            if (request) retries = retriesOf('SubscribeToTask', {});
            request = undefined;
            if (!this.#accept(positioned)) continue;
            retries.reset();
            pause = pollMs;
            yield positioned.event as AgentEvent;
            if (view.message) return;
            if (isOver()) continue;
            if (isFirst)
              isAmbiguous = Boolean(
                positioned.id && continued !== undefined && view.task && !isInterrupted(view.task),
              );
            else if (isSending && isAsking(view.task) && (isResumed || !isAmbiguous)) return;
          }
          if (isOver() || (isSending && !isResumed && view.task && isInterrupted(view.task))) return;
        } catch (error) {
          failure = deadline.classify(error);
          if (isSending && !isFirst && !isResumed && isAsking(view.task)) return;
        }
        isResumed = !request;
        const wasPolling = isPolling;
        mustPoll ||= isResumed && A2AError.is(failure) && unstreamable.has(failure.reason);
        // A stream that continues after the last event of an ended task closes without an event.
        isPolling = mustPoll || (isResumed && !failure && isEmpty && !wasPolling);
        if (isPolling && !wasPolling) continue;
        if (!failure && view.task && (wasPolling || isInterrupted(view.task))) {
          await clock.sleep(pause, deadline.signal);
          pause = Math.min(pause * 1.5, pollMs * 10);
        } else {
          if (isOpen && clock.now() - since >= CONTACT_MS) retries.reset();
          const error = failure ?? ended();
          broke(error);
          await retries.after(error);
        }
        deadline.signal.throwIfAborted();
      }
    } catch (error) {
      throw deadline.classify(error);
    } finally {
      deadline.close();
    }
  }

  /** Folds an event. Returns false if the view already contains it. */
  #accept({ id, event }: PositionedEvent): boolean {
    const { task } = event as AgentEvent;
    const known = task
      ? JSON.stringify(task) === JSON.stringify(this.#view.task)
      : isAtOrBefore(id, this.#lastEventId);
    if (known && !task) return false;
    if (task) this.#isPartial = false;
    const isNew = !known && this.#view.apply(event);
    // After a new event without a position, continuing after the previous position would repeat that event.
    this.#lastEventId = isNew ? id : (id ?? this.#lastEventId);
    return isNew;
  }

  #outOfReach(
    { request, taskId = this.#view.task?.id }: StreamStart,
    forMs: number,
    cause: unknown,
  ): ClientError {
    const position = this.#lastEventId ? `, { lastEventId: '${this.#lastEventId}' }` : '';
    const goOn =
      request && taskId === undefined
        ? sendAgain(request)
        : `Task ${taskId} may still be running: go on later with follow('${taskId}'${position})`;
    return outOfReach(this.#session, forMs, goOn, cause);
  }
}

/** Milliseconds after which an open connection counts as contact, even without a new event. */
const CONTACT_MS = 1_000;

/** After these errors, the client reads the task to learn whether it has ended or cannot be streamed. */
const unstreamable: ReadonlySet<string> = new Set([
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  // Servers of 0.3 answer these for a task that has ended or is not running at the moment.
  'TASK_NOT_FOUND',
  'INVALID_PARAMS',
]);

const isAsking = (task: Task | undefined): boolean => task?.status.state === 'TASK_STATE_INPUT_REQUIRED';

/** How long a connection may go on after the end of its task, in milliseconds. */
const lateMs = 250;

/** The events of a connection, with those that an agent sends after the end of the task: some send its artifacts then. */
async function* withLate<Event>(
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
