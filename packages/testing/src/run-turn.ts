import type { Child, Command, LogLine, Metadata, State, TaskUpdate } from '@batonjs/lifecycle';
import type { Message, Part, Task } from '@batonjs/protocol';
import {
  type Agent,
  AgentTurn,
  type Claims,
  type Clock,
  checkAnswer,
  completeRetry,
  defaultLimits,
  isUpdates,
  type OpenedCallback,
  type References,
  type StepRetry,
  systemClock,
  type Turn,
  type TurnSources,
  toParts,
  unsigned,
  valuesOf,
} from '@batonjs/server/turns';
import type { Scope } from '@batonjs/store';
import { runUpdates } from './run-updates.ts';
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
  const message = toUserMessage(content, contextId);
  const { caller, metadata, extensions, acceptedOutputModes = [] } = options;
  const configuration = { acceptedOutputModes: [...acceptedOutputModes] };
  const received = { message, caller, metadata, extensions, configuration };
  const clock = { ...systemClock, ...options.clock };
  const log = new UnstoredLog(received, options, clock);
  const opened: Record<string, OpenedCallback> = {};
  const lines: LogLine[] = [];
  const turn = turnOf(log, message, options, clock, lines);
  const { callback } = turn;
  Object.defineProperty(turn, 'callback', {
    value: async (request: Parameters<Turn['callback']>[0]) => {
      opened[request.name ?? 'callback'] = await callback(request);
      return opened[request.name ?? 'callback'];
    },
  });
  const answer = await agent(turn);
  if (isUpdates(answer)) {
    const updates: TaskUpdate[] = [];
    const record = (update: TaskUpdate) => {
      log.create();
      log.write({ type: 'update', update });
      updates.push(update);
    };
    await runUpdates(answer, record, () => log.state);
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

/** The turn that the agent is called with. */
function turnOf(
  log: UnstoredLog,
  message: Message,
  options: RunTurnOptions,
  clock: Clock,
  lines: LogLine[],
): Turn {
  const messages = [...(options.messages ?? []), message];
  const { task, contextTasks, references, woken = false } = options;
  const { contextId = '' } = message;
  const ground = {
    taskId: log.taskId,
    state: () => log.state,
    write: (commands: (state: State) => readonly Command[]) => log.write(...commands(log.state)),
    store: {
      list: async () => ({ tasks: [], total: 0 }),
      load: async () => undefined,
      getRecord: async () => undefined,
      putRecord: async () => 1,
    },
    clock,
    signal: options.signal ?? new AbortController().signal,
    steps: completeRetry({ steps: options.retry }).steps,
    keep: (line: LogLine) => lines.push(line),
    inbox: inboxOf(options.inbox ?? []),
  };
  return turnOn(ground, {
    messages,
    // An answer by a link is not mixed with what the client sent before.
    values: valuesOf(options.caller?.answeredBy === undefined ? messages : [message]),
    task,
    ...(contextTasks && {
      context: { id: contextId, tasks: async () => [...contextTasks], messages: async () => [] },
    }),
    ...(references && { references: async () => ({ tasks: [], artifacts: [], missing: [], ...references }) }),
    callbacks: receivedAtOnce(options.callbacks, clock),
    woken,
  });
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

function toUserMessage(content: string | readonly Part[] | Message, contextId: string): Message {
  if (typeof content !== 'string' && 'messageId' in content) return { contextId, ...content };
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', contextId, parts: toParts(content) };
}

/** What a turn without a server reads and writes. */
export interface TurnGround {
  readonly taskId: string;
  readonly state: () => State;
  /** Throws what the server throws for commands that it refuses. */
  readonly write: (commands: (state: State) => readonly Command[]) => void;
  readonly store: TurnSources['store'];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly steps: TurnSources['options']['retry']['steps'];
  readonly keep: (line: LogLine) => void;
  readonly inbox: Turn['inbox'];
}

/** The turn that a server would give to its agent, on a log that no store has. `members`: what the turn has instead of its own. */
export function turnOn(ground: TurnGround, members: Partial<Turn>): Turn {
  const { taskId, state, write, store, clock, signal, steps, keep, inbox } = ground;
  const task = {
    live: { scope: '' as Scope, taskId },
    lease: { fence: 1 },
    get state() {
      return state();
    },
    startedAt: 0,
    lines: { add: keep },
    skipsWaits: true,
    write,
    enterStep: () => void signal.throwIfAborted(),
    openInbox: () => inbox,
  };
  const options = {
    queue: '',
    callbacks: { url: 'http://localhost', keys: unsigned },
    limits: defaultLimits,
    messages: { currentStatusInHistory: false },
    retry: { steps },
  };
  const abort = {
    signal,
    get aborted() {
      return signal.aborted;
    },
    throwIfAborted: () => signal.throwIfAborted(),
  };
  const turn = new AgentTurn(task, { store, clock, logger() {}, options }, abort);
  return Object.defineProperties(turn, Object.getOwnPropertyDescriptors(members));
}
