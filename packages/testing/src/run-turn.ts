import type { Child, LogLine, Metadata, TaskUpdate } from '@batonjs/lifecycle';
import type { Message, Part, Task } from '@batonjs/protocol';
import {
  type Agent,
  type CallbackTask,
  type Claims,
  type Clock,
  checkAnswer,
  checkEnd,
  checkUpdate,
  completeRetry,
  createIdempotencyKeys,
  createMemory,
  createSteps,
  createTransaction,
  createTurnLog,
  isUpdates,
  linesOf,
  memoryErrorOf,
  momentOf,
  type OpenedCallback,
  openCallback,
  type References,
  type StepPolicy,
  type StepRecord,
  type StepRetry,
  systemClock,
  type Turn,
  toParts,
  unsigned,
  valuesOf,
  waitingIn,
} from '@batonjs/server/turns';
import type { Scope } from '@batonjs/store';
import { UnstoredLog } from './unstored-log.ts';

/** The members of a turn in a unit test, besides its message. */
export interface RunTurnOptions {
  readonly task?: Task | undefined;
  /** Earlier messages of the task, oldest first. */
  readonly messages?: readonly Message[] | undefined;
  /** Messages that arrive while the turn runs. */
  readonly inbox?: readonly Message[] | undefined;
  readonly contextId?: string | undefined;
  readonly caller?: Claims | undefined;
  readonly metadata?: Metadata | undefined;
  readonly extensions?: readonly string[] | undefined;
  readonly acceptedOutputModes?: readonly string[] | undefined;
  readonly references?: Partial<References> | undefined;
  readonly contextTasks?: readonly Task[] | undefined;
  readonly attempt?: number | undefined;
  /** Results of steps that an earlier attempt completed, or that an earlier turn kept for the task. */
  readonly steps?: Readonly<Record<string, unknown>> | undefined;
  /** What earlier turns remembered, by key. */
  readonly memory?: Readonly<Record<string, unknown>> | undefined;
  /** The defaults of steps, as `retry.steps` of the server. Waits between two tries take no time. */
  readonly retry?: StepRetry | undefined;
  /** The children that earlier turns or attempts recorded, by name. */
  readonly children?: Readonly<Record<string, Child>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether no message started the turn: the one that is passed is that of the turn before. Default false. */
  readonly woken?: boolean | undefined;
  /** The values that other systems have sent, by the names of their callbacks. */
  readonly callbacks?: Readonly<Record<string, unknown>> | undefined;
  /** Time, such as `testClock()`. Default: that of the system. */
  readonly clock?: Partial<Clock> | undefined;
}

/** The outcome of a turn: the message that the agent answered with, or the updates it yielded. */
export interface TurnOutcome {
  readonly message?: Message;
  readonly updates: readonly TaskUpdate[];
  /** Results of the steps it completed. */
  readonly steps: Readonly<Record<string, unknown>>;
  /** What the agent remembers after the turn, by key. */
  readonly memory: Readonly<Record<string, unknown>>;
  /** What it logged. */
  readonly log: readonly LogLine[];
  /** When it asked for another turn: ISO 8601, UTC, milliseconds. */
  readonly wakeAt?: string;
  /** The callbacks that it opened, by name. */
  readonly callbacks: Readonly<Record<string, OpenedCallback>>;
}

/**
 * Runs one turn of an agent without server and store, for unit tests. Text and parts become the user's message. Refuses
 * what the server refuses: at the `yield`, where the agent can catch it, or when the agent ends. Rejects with the error
 * that the agent throws.
 */
export async function runTurn(
  agent: Agent,
  content: string | readonly Part[] | Message,
  options: RunTurnOptions = {},
): Promise<TurnOutcome> {
  const contextId = options.contextId ?? options.task?.contextId ?? 'context';
  const taskId = options.task?.id ?? 'task';
  const message = toUserMessage(content, contextId);
  const { task, attempt = 1, steps = {}, memory = {}, children = {} } = options;
  const clock = { ...systemClock, ...options.clock };
  const log = new UnstoredLog({ message, taskId, task, attempt, steps, memory, children }, clock);
  const opened: Record<string, OpenedCallback> = {};
  const lines: LogLine[] = [];
  const turn = turnOf({ message, contextId, taskId, attempt }, options, { log, clock, opened, lines });
  const answer = await agent(turn);
  if (isUpdates(answer)) {
    const updates = await consume(answer, log);
    const { wakeAt } = log.state;
    return { updates, ...left(log, opened), log: lines, ...(wakeAt !== undefined && { wakeAt }) };
  }
  checkAnswer(answer);
  log.write({ type: 'answer', message: answer });
  return { message: answer, updates: [], ...left(log, opened), log: lines };
}

const left = ({ steps, memory }: UnstoredLog, callbacks: Readonly<Record<string, OpenedCallback>>) => ({
  steps,
  memory,
  callbacks,
});

/** Where the turn leaves what it does. */
interface Recorded {
  readonly log: UnstoredLog;
  readonly clock: Clock;
  readonly opened: Record<string, OpenedCallback>;
  readonly lines: LogLine[];
}

/** The turn that the agent is called with. */
function turnOf(
  { message, contextId, taskId, attempt }: Pick<Turn, 'message' | 'contextId' | 'taskId' | 'attempt'>,
  options: RunTurnOptions,
  recorded: Recorded,
): Turn {
  const { log, clock, opened, lines } = recorded;
  const messages = [...(options.messages ?? []), message];
  const signal = options.signal ?? new AbortController().signal;
  const policy = completeRetry({ steps: options.retry }).steps;
  const step = createSteps(stepsIn(recorded, signal, policy));
  return {
    message,
    messages,
    text: linesOf(message),
    get values() {
      // An answer by a link is not mixed with what the client sent before.
      return valuesOf(options.caller?.answeredBy === undefined ? this.messages : [this.message]);
    },
    contextId,
    taskId,
    task: options.task,
    context: {
      id: contextId,
      tasks: async () => [...(options.contextTasks ?? [])],
      messages: async () => [],
    },
    references: async () => ({
      tasks: [],
      artifacts: [],
      missing: options.references ? [] : (message.referenceTaskIds ?? []),
      ...options.references,
    }),
    caller: options.caller ?? {},
    metadata: options.metadata ?? {},
    acceptedOutputModes: options.acceptedOutputModes ?? [],
    extensions: options.extensions ?? [],
    attempt,
    step,
    memory: createMemory({
      stored: () => log.memory,
      async change(memory) {
        try {
          log.write({ type: 'change-memory', memory });
        } catch (error) {
          throw memoryErrorOf(error);
        }
      },
    }),
    log: createTurnLog({ logger() {}, about: {}, now: clock.now, keep: (line) => lines.push(line) }),
    transaction: createTransaction({ scope: '', taskId, turn: message.messageId, fence: 1 }, step, signal),
    idempotencyKey: createIdempotencyKeys({
      done: (name) => log.step(name),
      complete: (name, result) => log.write({ type: 'complete-step', name, result }),
    }),
    inbox: inboxOf(options.inbox ?? []),
    get children() {
      return log.state.children ?? {};
    },
    signal,
    fence: 1,
    callback: async (request) => {
      const task = {
        scope: 'scope' as Scope,
        taskId,
        queue: 'agent',
        callbacks: { url: 'http://localhost', keys: unsigned },
        clock,
      };
      const write: CallbackTask['write'] = (commands) => log.write(...commands(log.state));
      const callback = await openCallback({ ...task, write }, request);
      opened[request.name ?? 'callback'] = callback;
      return callback;
    },
    callbacks: receivedAtOnce(options.callbacks, clock),
    wakeKey: 'wake',
    wakeAt: async (time) => {
      log.create();
      log.write({ type: 'set-wake', time: time === undefined ? undefined : momentOf(time) });
    },
    woken: options.woken ?? false,
    replacedWake: undefined,
  };
}

/** The values as if they had just come. */
const receivedAtOnce = (values: Readonly<Record<string, unknown>> = {}, { now }: Clock): Turn['callbacks'] =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, receivedAt: new Date(now()) }]),
  );

function inboxOf(messages: readonly Message[]): Turn['inbox'] {
  const waiting = [...messages];
  const take = async () => waiting.shift();
  return {
    take,
    get size() {
      return waiting.length;
    },
    async *[Symbol.asyncIterator]() {
      for (let next = await take(); next; next = await take()) yield next;
    },
  };
}

/** The updates that the server would record. */
async function consume(answer: AsyncIterable<TaskUpdate>, log: UnstoredLog): Promise<readonly TaskUpdate[]> {
  const iterator = answer[Symbol.asyncIterator]();
  const updates: TaskUpdate[] = [];
  let refusal: unknown;
  for (;;) {
    const next: IteratorResult<TaskUpdate> = await (refusal && iterator.throw
      ? iterator.throw(refusal)
      : iterator.next());
    refusal = undefined;
    if (next.done) break;
    try {
      checkUpdate(next.value);
      log.create();
      log.write({ type: 'update', update: next.value });
    } catch (error) {
      if (!iterator.throw) throw error;
      refusal = error;
      continue;
    }
    updates.push(next.value);
    if (log.state.closed || log.state.task?.status.state === 'TASK_STATE_INPUT_REQUIRED') {
      waitingIn(answer)?.stored();
      await iterator.return?.();
      return updates;
    }
  }
  checkEnd(log.state);
  return updates;
}

const stepsIn = ({ log, clock }: Recorded, signal: AbortSignal, policy: StepPolicy): StepRecord => ({
  policy,
  clock,
  skipsWaits: true,
  pause: undefined,
  abort: {
    signal,
    get aborted() {
      return signal.aborted;
    },
    throwIfAborted: () => signal.throwIfAborted(),
  },
  enter() {
    signal.throwIfAborted();
    return undefined;
  },
  known: (name) => log.step(name),
  failed: (name) => (Object.hasOwn(log.failures, name) ? log.failures[name] : undefined),
  complete: async (name, result, keep) => log.write({ type: 'complete-step', name, result, keep }),
  fail: async (name, message, retryAt) => log.write({ type: 'fail-step', name, message, retryAt }),
});

function toUserMessage(content: string | readonly Part[] | Message, contextId: string): Message {
  if (typeof content !== 'string' && 'messageId' in content) return { contextId, ...content };
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', contextId, parts: toParts(content) };
}
