import { historyOf, type MessageReceived, type State, stepOf, viewTask } from '@batonjs/lifecycle';
import type { Message, Task } from '@batonjs/protocol';
import type { Inbox, Memory, References, Turn, TurnContext, TurnLog } from '../agent/agent.ts';
import { linesOf, valuesOf } from '../agent/message-content.ts';
import type { TurnSpan, TurnStart } from '../base/hooks/telemetry.ts';
import { momentOf } from '../base/timing/clock.ts';
import { storing } from '../log/write/decision.ts';
import { contextOf } from './context/context-tasks.ts';
import { referencesOf } from './context/references.ts';
import { toolsOf } from './files/task-files.ts';
import { createTurnLog } from './lines/pending-lines.ts';
import { isWithoutMessage, ofSender, startedWith, takenLater } from './order/turn-messages.ts';
import { wakeCommand, wakeKeyOf } from './order/wake-time.ts';
import { createIdempotencyKeys } from './outside/callback-keys.ts';
import { openCallback, receivedIn } from './outside/open-callback.ts';
import { type BudgetSource, countUsage, mustHaveBudget } from './steps/budgets.ts';
import { createMemory } from './steps/memory.ts';
import { createSteps, createUsage, type StepRecord } from './steps/steps.ts';
import { createTransaction } from './transaction.ts';
import type { Begin, TurnAbort, TurnOptions, TurnSources, TurnTask } from './turn-dependencies.ts';

/** The parts that a turn is made of. */
interface Inner {
  readonly writer: TurnTask;
  readonly dependencies: TurnSources;
  readonly abort: TurnAbort;
  /** The task when the turn began. */
  readonly state: State;
  /** The message that the turn answers. */
  readonly started: MessageReceived;
  readonly span: TurnSpan | undefined;
  readonly pause: Pause | undefined;
  message: Message | undefined;
  messages: Message[] | undefined;
  step: Turn['step'] | undefined;
  /** Only where it is used: a turn without keys pays nothing. */
  idempotencyKey?: Turn['idempotencyKey'];
  inbox: Inbox | undefined;
}

/** Ends this attempt of a turn. The next one starts at the time: milliseconds since 1970. */
export type Pause = (until: number) => void;

const inner = Symbol('inner');

/**
 * The turn that the agent gets for one run. Expensive members are made when they are first read. A class, because V8
 * allocates the getters of an object literal among long-lived objects: everything that they capture would stay until
 * the next full collection. Without private members, so that a turn may be the prototype of another object.
 */
export class AgentTurn implements Turn {
  readonly contextId: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly fence: number;
  readonly [inner]: Inner;

  /** `pause`: undefined if the turn sits out every wait. */
  constructor(writer: TurnTask, dependencies: TurnSources, abort: TurnAbort, span?: TurnSpan, pause?: Pause) {
    const { state } = writer;
    this.contextId = state.contextId;
    this.taskId = writer.live.taskId;
    this.attempt = state.openTurn?.attempt ?? 1;
    this.fence = writer.lease.fence;
    this[inner] = {
      writer,
      dependencies,
      abort,
      state,
      started: startedWith(state),
      span,
      pause,
      message: undefined,
      messages: undefined,
      step: undefined,
      inbox: undefined,
    };
  }

  // Agents get copies: they may change them without changing the state.
  get message(): Message {
    this[inner].message ??= copyOf(this[inner], this[inner].started.message);
    return this[inner].message;
  }

  get messages(): readonly Message[] {
    const { state } = this[inner];
    this[inner].messages ??= copyOf(this[inner], historyOf(state, { currentStatusInHistory: true }));
    return this[inner].messages;
  }

  get text(): string {
    return linesOf(this[inner].started.message);
  }

  get values(): Readonly<Record<string, unknown>> {
    const { state, started } = this[inner];
    return valuesOf(ofSender(state, started.message, this.messages));
  }

  get task(): Task | undefined {
    const { state } = this[inner].writer;
    const { currentStatusInHistory } = this[inner].dependencies.options.messages;
    return state.task && copyOf(this[inner], viewTask(state, { currentStatusInHistory }));
  }

  get context(): TurnContext {
    const { writer, dependencies } = this[inner];
    return contextOf({
      store: dependencies.store,
      scope: writer.live.scope,
      contextId: this.contextId,
      taskId: this.taskId,
      bytes: dependencies.options.limits.replyBytes,
      shown: (value) => shownIn(this[inner], value),
    });
  }

  get references(): () => Promise<References> {
    const { writer, dependencies, started } = this[inner];
    const { store } = dependencies;
    const { limits } = dependencies.options;
    return async () =>
      shownIn(this[inner], await referencesOf(store, writer.live.scope, started.message, limits.replyBytes));
  }

  get caller(): Turn['caller'] {
    return (this[inner].started.caller ?? {}) as Turn['caller'];
  }

  get metadata(): Turn['metadata'] {
    return this[inner].started.metadata ?? {};
  }

  get acceptedOutputModes(): readonly string[] {
    return this[inner].started.configuration?.acceptedOutputModes ?? [];
  }

  get extensions(): readonly string[] {
    return this[inner].started.extensions ?? [];
  }

  get step(): Turn['step'] {
    this[inner].step ??= limited(createSteps(stepsIn(this[inner])), this[inner]);
    return this[inner].step;
  }

  get memory(): Memory {
    const { writer } = this[inner];
    return createMemory({
      stored: () => writer.state.agent?.memory,
      change: (memory) => storing(() => writer.write(() => [{ type: 'change-memory', memory }])),
    });
  }

  get usage(): Turn['usage'] {
    return createUsage(stepsIn(this[inner]));
  }

  get log(): TurnLog {
    const { writer, dependencies, state } = this[inner];
    const { logger, clock } = dependencies;
    const { taskId, attempt } = this;
    const about = { taskId, turn: state.openTurn?.number ?? state.turns, attempt };
    return createTurnLog({ logger, about, now: clock.now, keep: (line) => writer.lines.add(line) });
  }

  get transaction(): Turn['transaction'] {
    const { writer, abort, state, started } = this[inner];
    const { taskId, fence } = this;
    // With the message: after the store lost facts, another turn may have the number.
    const turn = `${state.openTurn?.number ?? 0} ${started.message.messageId}`;
    return createTransaction({ scope: writer.live.scope, taskId, turn, fence }, this.step, abort.signal);
  }

  get idempotencyKey(): Turn['idempotencyKey'] {
    const { writer } = this[inner];
    this[inner].idempotencyKey ??= createIdempotencyKeys({
      done: (name) => stepOf(writer.state, name),
      complete: (name, result) => writer.write(() => [{ type: 'complete-step', name, result }]),
    });
    return this[inner].idempotencyKey;
  }

  get inbox(): Inbox {
    const { writer, abort, state } = this[inner];
    this[inner].inbox ??= writer.openInbox(abort.signal, takenLater(state));
    return this[inner].inbox;
  }

  get children(): Turn['children'] {
    return this[inner].writer.state.children ?? {};
  }

  get signal(): AbortSignal {
    return this[inner].abort.signal;
  }

  get wakeAt(): Turn['wakeAt'] {
    const { writer, dependencies } = this[inner];
    const { clock } = dependencies;
    return async (time) => {
      const moment = time === undefined ? undefined : momentOf(time);
      const create = { type: 'create', taskId: this.taskId } as const;
      await writer.write((state) => [create, wakeCommand(state, moment, clock.now())]);
    };
  }

  get replacedWake(): Date | undefined {
    const time = this[inner].state.openTurn?.replacedWake;
    return time === undefined ? undefined : new Date(time);
  }

  get woken(): boolean {
    const { openTurn } = this[inner].state;
    return openTurn !== undefined && isWithoutMessage(openTurn);
  }

  get callback(): Turn['callback'] {
    const { writer, dependencies } = this[inner];
    const { scope, taskId } = writer.live;
    const { queue, callbacks } = dependencies.options;
    const write = writer.write.bind(writer);
    const task = { scope, taskId, queue, callbacks, clock: dependencies.clock, write };
    return (request) => openCallback(task, request);
  }

  get callbacks(): Turn['callbacks'] {
    return receivedIn(this[inner].writer.state.agent);
  }

  get saveFile(): Turn['saveFile'] {
    return filesIn(this[inner]).saveFile;
  }

  get file(): Turn['file'] {
    return filesIn(this[inner]).file;
  }

  get wakeKey(): string {
    return wakeKeyOf(this[inner].writer.live.scope, this.taskId);
  }
}

/** Agents see links, as clients do. */
const shownIn = <T>({ writer: { live }, dependencies }: Inner, value: T): T =>
  dependencies.options.files?.shown(value, live.scope) ?? value;

const copyOf = <T>(turn: Inner, value: T): T => shownIn(turn, structuredClone(value));

const filesIn = ({ writer: { live }, dependencies: { options } }: Inner) => toolsOf(options.files, live);

const limited = (step: Turn['step'], { writer, abort }: Inner): Turn['step'] =>
  writer.limit?.steps(step, abort) ?? step;

const budgetsIn = ({ options, ...sources }: TurnSources): BudgetSource => ({ ...options, ...sources });

const stepsIn = ({ writer, abort, span, pause, dependencies }: Inner): StepRecord => ({
  span,
  abort,
  pause,
  clock: dependencies.clock,
  policy: dependencies.options.retry.steps,
  startedAt: writer.startedAt,
  skipsWaits: writer.skipsWaits,
  known: (name) => stepOf(writer.state, name),
  failed(name) {
    const failures = writer.state.openTurn?.stepFailures;
    return failures && Object.hasOwn(failures, name) ? failures[name] : undefined;
  },
  mustHaveBudget: () => mustHaveBudget(budgetsIn(dependencies), writer),
  count(usage) {
    span?.used?.(usage);
    return countUsage(budgetsIn(dependencies), writer, usage);
  },
  enter: () => writer.enterStep(abort),
  complete(name, result, keep, usage) {
    const commands = () => [{ type: 'complete-step', name, result, keep, usage } as const];
    return keep ? storing(() => writer.write(commands)) : writer.write(commands);
  },
  fail: (name, message, retryAt) => writer.write(() => [{ type: 'fail-step', name, message, retryAt }]),
});

/** What telemetry learns of an attempt that begins. `isTimed`: because a time came. */
export function turnStart(
  { state, live: { taskId } }: TurnTask,
  { started, arriving, isTimed }: Begin & { readonly isTimed: boolean },
  { isWorker }: TurnOptions,
  now: number,
): TurnStart {
  const { openTurn, contextId } = state;
  const { number = 1, attempt = 1 } = openTurn ?? {};
  const isWoken = !openTurn || isWithoutMessage(openTurn);
  const unasked = isTimed ? 'clock' : 'woken';
  const cause = attempt > 1 ? 'recovery' : isWoken ? unasked : 'message';
  const { traceparent, message, at } = startedWith(state);
  const waitedMs = cause === 'message' ? Math.max(0, now - Date.parse(at)) : undefined;
  const isImmediate = started === true || (cause === 'message' && message.messageId === arriving);
  return { taskId, contextId, turn: number, attempt, cause, traceparent, isImmediate, isWorker, waitedMs };
}
