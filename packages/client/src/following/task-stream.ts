import type { SendMessageRequest, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { ClientError } from '../client-error.ts';
import { openScope } from '../connection/call-scope.ts';
import { outOfReach, sendAgain, startRetries } from '../connection/retries.ts';
import type { PlacedEvent, Session } from '../connection/session.ts';
import type { CallOptions } from '../options/settings.ts';
import type { AgentEvent, AgentReply } from '../replies/agent-reply.ts';
import { isInterrupted, isTerminal } from '../replies/task-states.ts';
import { isBehind, listenToTask, lookAtTask } from './task-source.ts';
import { TaskView } from './task-view.ts';

/** How a task is followed. */
export interface FollowOptions extends CallOptions {
  /** Continue after this event: the `lastEventId` of an earlier stream of the same task. */
  readonly lastEventId?: string;
  /** Milliseconds between two looks at a task that cannot be streamed: 500 at first, growing tenfold. */
  readonly pollMs?: number;
  /**
   * Milliseconds without contact after which the stream gives up with `NETWORK`; its message says how to go on later. 60,000
   * by default, 0 to give up at the first failure, `Infinity` to go on for ever. A connection that lasted a second is a contact.
   */
  readonly followForMs?: number;
}

/** What a stream begins with: a message to send, or a task that is there already. */
export type StreamStart = { readonly request: SendMessageRequest } | { readonly taskId: string };

const ended = () => new ClientError('NETWORK', 'The stream ended before the task did');

/**
 * What happens to a task, each event once, through dropped connections and restarts of its server. Iterate it once.
 *
 * A connection that breaks is made again and continues after the last event. Where the agent cannot tell what was missed
 * there comes a `task` event, which replaces all that was known; where it cannot stream, the task is looked at now and
 * then. It ends when the task does, and after a message also when the task waits for an answer. It gives up when the agent
 * was out of reach for `followForMs`. Spec: §3.1.2, §3.1.6.
 */
export class TaskStream implements AsyncIterable<AgentEvent> {
  readonly #session: Session;
  readonly #options: FollowOptions;
  readonly #view = new TaskView();
  readonly #events: AsyncGenerator<AgentEvent, void, void>;
  #lastEventId: string | undefined;
  /** Whether the stream began in the middle, so that only the end of the task is known. */
  #isPartial: boolean;

  constructor(session: Session, start: StreamStart, options: FollowOptions) {
    this.#session = session;
    // A heartbeat is due every half minute at the latest.
    this.#options = { idleTimeoutMs: 120_000, ...options };
    this.#lastEventId = options.lastEventId;
    this.#isPartial = options.lastEventId !== undefined;
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

  /** Reads to the end and resolves to what came of it, as `send` does: the whole task, also if `lastEventId` was given. */
  async result(): Promise<AgentReply> {
    for await (const _ of this);
    const { task, message } = this.#view;
    if (task && this.#isPartial) {
      const { lastEventId: _, ...options } = this.#options;
      return { task: (await this.#session.call('GetTask', { id: task.id }, options)) as Task };
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
    const isSending = 'request' in start;
    const isFollowUp = isSending && start.request.message.taskId !== undefined;
    const pollMs = this.#options.pollMs ?? 500;
    const scope = openScope({ signal: this.#options.signal, timeoutMs: 0 }, settings, this.#session.address);
    const options = { ...this.#options, signal: scope.signal };
    const forMs = this.#options.followForMs ?? settings.followForMs;
    const bound = { forMs, giveUp: (error: unknown) => this.#outOfReach(start, forMs, error) };
    const retriesOf = (operation: 'SendStreamingMessage' | 'SubscribeToTask', call: CallOptions) =>
      startRetries(this.#session, operation, {}, call, scope.signal, bound);
    let retries = isSending ? retriesOf('SendStreamingMessage', options) : retriesOf('SubscribeToTask', {});
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
        let isOpen = false;
        let isSilent = true;
        try {
          const id = isSending ? (view.task?.id ?? start.request.message.taskId ?? '') : start.taskId;
          const isAnswer = request !== undefined;
          const open = looks ? lookAtTask : listenToTask;
          for await (const placed of open(this.#session, id, request, {
            ...options,
            lastEventId: this.#lastEventId,
            onOpen: () => {
              isOpen = true;
            },
          })) {
            isSilent = false;
            isFirst = isAnswer && !view.task;
            if (request) retries = retriesOf('SubscribeToTask', {});
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
        const wasLooking = looks;
        polls ||= resumed && A2AError.is(failure) && unstreamable.has(failure.reason);
        // A stream that was continued after the last event of its task says nothing at all.
        looks = polls || (resumed && !failure && isSilent && !wasLooking);
        if (looks && !wasLooking) continue;
        if (!failure && view.task && (wasLooking || isInterrupted(view.task))) {
          await clock.sleep(pause, scope.signal);
          pause = Math.min(pause * 1.5, pollMs * 10);
        } else {
          if (isOpen && clock.now() - since >= CONTACT_MS) retries.reset();
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
    if (task) this.#isPartial = false;
    const isNew = !known && this.#view.apply(event);
    // After news without a position, the one before would bring the same news again.
    this.#lastEventId = isNew ? id : (id ?? this.#lastEventId);
    return isNew;
  }

  #outOfReach(start: StreamStart, forMs: number, cause: unknown): ClientError {
    const sent = 'taskId' in start ? start.taskId : start.request.message.taskId;
    const taskId = this.#view.task?.id ?? sent;
    const position = this.#lastEventId ? `, { lastEventId: '${this.#lastEventId}' }` : '';
    const goOn =
      this.#view.task || 'taskId' in start
        ? `Task ${taskId} may still be running: go on later with follow('${taskId}'${position})`
        : sendAgain(start.request);
    return outOfReach(this.#session, forMs, goOn, cause);
  }
}

/** Milliseconds that a connection must last to show that the agent can be reached, although nothing new was said. */
const CONTACT_MS = 1_000;

/** After these, only looking at the task can tell whether it ended or cannot be streamed. */
const unstreamable: ReadonlySet<string> = new Set([
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  // Servers of 0.3 say these of a task that has ended, or that nothing runs for at the moment.
  'TASK_NOT_FOUND',
  'INVALID_PARAMS',
]);

const asks = (task: Task | undefined): boolean => task?.status.state === 'TASK_STATE_INPUT_REQUIRED';
