import type { SendMessageRequest, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { openScope } from './call-scope.ts';
import { ClientError } from './client-error.ts';
import type { AgentEvent, AgentReply } from './one-of.ts';
import { startRetries } from './retries.ts';
import type { PlacedEvent, Session } from './session.ts';
import type { CallOptions } from './settings.ts';
import { isInterrupted, isTerminal } from './states.ts';
import { isBehind, listenToTask, lookAtTask } from './task-source.ts';
import { TaskView } from './task-view.ts';

/** How a task is followed. */
export interface FollowOptions extends CallOptions {
  /** Continue after this event: the `lastEventId` of an earlier stream of the same task. */
  readonly lastEventId?: string;
  /** Milliseconds between two looks at a task that cannot be streamed: 500 at first, growing tenfold. */
  readonly pollMs?: number;
}

/** What a stream begins with: a message to send, or a task that is there already. */
export type StreamStart = { readonly request: SendMessageRequest } | { readonly taskId: string };

const ended = () => new ClientError('NETWORK', 'The stream ended before the task did');

/**
 * What happens to a task, each event once, through dropped connections and restarts of its server. Iterate it once.
 *
 * A connection that breaks is made again and continues after the last event. Where the agent cannot tell what was missed
 * there comes a `task` event, which replaces all that was known; where it cannot stream, the task is looked at now and
 * then. It ends when the task does, and after a message also when the task waits for an answer. Spec: §3.1.2, §3.1.6.
 */
export class TaskStream implements AsyncIterable<AgentEvent> {
  readonly #session: Session;
  readonly #options: FollowOptions;
  readonly #view = new TaskView();
  readonly #events: AsyncGenerator<AgentEvent, void, void>;
  #lastEventId: string | undefined;

  constructor(session: Session, start: StreamStart, options: FollowOptions) {
    this.#session = session;
    // A heartbeat is due every half minute at the latest.
    this.#options = { idleTimeoutMs: 120_000, ...options };
    this.#lastEventId = options.lastEventId;
    this.#events = this.#follow(start);
  }

  /** The task so far. It changes with every event: `structuredClone` what you keep. */
  get task(): Task | undefined {
    return this.#view.task;
  }

  /** The position reached, to be continued from in another process; nothing where the agent gives none. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** Reads to the end and resolves to what came of it, as `send` does. */
  async result(): Promise<AgentReply> {
    for await (const _ of this);
    const { task, message } = this.#view;
    if (task) return { task };
    if (message) return { message };
    throw new A2AError('INVALID_AGENT_RESPONSE');
  }

  [Symbol.asyncIterator](): AsyncGenerator<AgentEvent, void, void> {
    return this.#events;
  }

  async *#follow(start: StreamStart): AsyncGenerator<AgentEvent, void, void> {
    const { settings, card } = this.#session;
    const { clock, retry } = settings;
    const view = this.#view;
    const isSending = 'request' in start;
    const isFollowUp = isSending && start.request.message.taskId !== undefined;
    const pollMs = this.#options.pollMs ?? 500;
    const scope = openScope({ signal: this.#options.signal, timeoutMs: 0 }, settings);
    const options = { ...this.#options, signal: scope.signal };
    const retriesOf = (operation: 'SendStreamingMessage' | 'SubscribeToTask') =>
      startRetries(this.#session, operation, {}, options, scope.signal, true);
    let retries = retriesOf(isSending ? 'SendStreamingMessage' : 'SubscribeToTask');
    // Until an event says that the message arrived.
    let request = isSending ? start.request : undefined;
    let polls = settings.checkCapabilities && !card.capabilities?.streaming;
    let looks = polls;
    let resumed = false;
    // A question may be one that was asked before the message was read: a server that gives positions closes the stream
    // when it has answered the message, of others one cannot be sure.
    let isAmbiguous = false;
    let pause = pollMs;
    try {
      for (;;) {
        const since = clock.now();
        let failure: unknown;
        let isFirst = false;
        try {
          const id = isSending ? (view.task?.id ?? '') : start.taskId;
          const open = looks ? lookAtTask : listenToTask;
          for await (const placed of open(this.#session, id, request, {
            ...options,
            lastEventId: this.#lastEventId,
          })) {
            isFirst = request !== undefined;
            if (request) retries = retriesOf('SubscribeToTask');
            request = undefined;
            if (!this.#accept(placed)) continue;
            retries.reset();
            pause = pollMs;
            yield placed.event as AgentEvent;
            if (view.message || (view.task && isTerminal(view.task))) return;
            if (isFirst)
              isAmbiguous = Boolean(placed.id && isFollowUp && view.task && !isInterrupted(view.task));
            else if (isSending && asks(view.task) && (resumed || !isAmbiguous)) return;
          }
          if (isSending && !resumed && view.task && isInterrupted(view.task)) return;
        } catch (error) {
          failure = scope.classify(error);
          if (isSending && !isFirst && !resumed && asks(view.task)) return;
        }
        resumed = !request;
        polls ||= resumed && A2AError.is(failure) && unstreamable.has(failure.reason);
        // A stream that was continued after the last event of its task says nothing at all.
        const wasLooking = looks;
        looks = polls || (resumed && !failure && !view.task);
        if (looks && !wasLooking) continue;
        if (!failure && view.task && (polls || isInterrupted(view.task))) {
          await clock.sleep(pause, scope.signal);
          pause = Math.min(pause * 1.5, pollMs * 10);
        } else {
          if (clock.now() - since > retry.longestMs) retries.reset();
          await retries.after(failure ?? ended());
        }
        scope.signal.throwIfAborted();
      }
    } catch (error) {
      throw scope.classify(error);
    } finally {
      scope.close();
    }
  }

  /** Folds an event in, unless it was there already. */
  #accept({ id, event }: PlacedEvent): boolean {
    const { task } = event as AgentEvent;
    const known = task
      ? JSON.stringify(task) === JSON.stringify(this.#view.task)
      : isBehind(id, this.#lastEventId);
    if (known && !task) return false;
    this.#lastEventId = id ?? this.#lastEventId;
    return !known && this.#view.apply(event);
  }
}

/** After these, only looking at the task can tell whether it ended or cannot be streamed. */
const unstreamable: ReadonlySet<string> = new Set([
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
]);

const asks = (task: Task | undefined): boolean => task?.status.state === 'TASK_STATE_INPUT_REQUIRED';
