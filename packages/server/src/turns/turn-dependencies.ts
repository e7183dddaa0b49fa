import type { ServerCompatibility } from '@batonjs/bindings';
import type { ChildUpdate, Command, LogLine, MessageReceived, State } from '@batonjs/lifecycle';
import { guardHook } from '@batonjs/protocol/hooks';
import type { Answer, Lease, Scope, TaskStore } from '@batonjs/store';
import type { Agent, Inbox, Turn } from '../agent/agent.ts';
import type { MessageOptions } from '../agent/caller.ts';
import type { Logger, ReportFailure } from '../base/hooks/logger.ts';
import type { Telemetry } from '../base/hooks/telemetry.ts';
import type { Limits } from '../base/limits.ts';
import type { Versions } from '../base/store/versions.ts';
import type { Timeouts } from '../base/timeouts.ts';
import type { Clock } from '../base/timing/clock.ts';
import type { LazyAbort } from '../base/timing/deadline-timers.ts';
import type { EndedRuns } from '../log/ended/ended-runs.ts';
import type { Changed, Transition } from '../log/write/decision.ts';
import type { ServerFiles } from './files/server-files.ts';
import type { Schedule } from './order/schedule.ts';
import type { CompleteCallbacks } from './outside/callback-options.ts';
import type { CallbackTask } from './outside/open-callback.ts';
import type { RetryPolicies, StepPolicy } from './retries/retry-policy.ts';
import type { BudgetEvent, BudgetSource } from './steps/budgets.ts';
import type { RunLimit, TurnLimit } from './steps/run-limit.ts';

/** Stops work that was started elsewhere. May return what became of children. */
export type CancelHook =
  | ((turn: Turn) => void | Promise<void>)
  | ((turn: Turn) => Promise<readonly ChildUpdate[]>);

/** How turns are claimed and run: the options of a server or worker, completed. Plain values, times in milliseconds. */
export interface TurnOptions {
  readonly queue: string;
  /** Whether this process runs the turns of the messages it accepts, or leaves them to workers or to its next run. */
  readonly run: 'here' | 'workers' | 'due';
  /** Whether this process is a worker, which answers no requests. */
  readonly isWorker: boolean;
  /** What happens to a turn whose process died. */
  readonly restart: 'fail' | 'rerun';
  readonly maxAttempts: number;
  /** The version of the program. */
  readonly version: string | undefined;
  /** The version that turns which begin here are pinned to; undefined: to none. */
  readonly pinnedTo: string | undefined;
  /** How long the queue is left alone if the store notifies of nothing. */
  readonly pollMs: number;
  /** Undefined: turns start as soon as a process has room. */
  readonly schedule: Schedule | undefined;
  readonly timeouts: Timeouts;
  readonly retry: RetryPolicies;
  readonly limits: Limits;
  readonly messages: MessageOptions;
  /** The other versions of the protocol that are spoken. */
  readonly compatibility: readonly ServerCompatibility[];
  /** Whether the version 1.1 is spoken before it is released. */
  readonly preview: boolean;
  /** Undefined: other systems send no values. */
  readonly callbacks: CompleteCallbacks | undefined;
  /** Undefined: files lie in the logs. */
  readonly files: ServerFiles | undefined;
}

/** The objects that turns are claimed and run with. Made once for each server or worker. */
export interface TurnDependencies {
  readonly agent: Agent;
  /** Answers each call within `timeouts.storeMs`. Gives out no tasks while the queue is that of another agent. */
  readonly store: TaskStore;
  /** Whether the tasks of the queue are this agent's, as the store remembers. */
  readonly owners: { readonly isOurs: boolean; refusal(): Promise<string | undefined> };
  /** The version of turns that are pinned; undefined: none is here. */
  readonly versions: Versions | undefined;
  /** Logs the errors of background work; an outage of the store once, and not in each loop. */
  readonly report: ReportFailure;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onCancel: CancelHook | undefined;
  /** Logs and counts the event, and calls the hook. Never throws. `live`: that of a transition. */
  readonly onEvent: (event: Transition | TurnEvent | BudgetEvent, live?: Changed) => void;
  /** What ended, for those who look at the agent. */
  readonly runs: Pick<EndedRuns, 'close'>;
  /** Undefined if no telemetry is wanted. */
  readonly telemetry: Telemetry | undefined;
  /** Of a bounded run; undefined in a process that stays. */
  readonly limit?: RunLimit | undefined;
  readonly options: TurnOptions;
}

/** The parts of `TurnDependencies` that a turn uses when its agent asks. */
export interface TurnSources extends Pick<TurnDependencies, 'clock' | 'logger'> {
  readonly store: Pick<TaskStore, 'list' | 'load' | 'getRecord' | 'putRecord'>;
  readonly onEvent?: BudgetSource['onEvent'];
  readonly options: {
    readonly queue: string;
    readonly callbacks: CallbackTask['callbacks'];
    readonly files?: ServerFiles | undefined;
    readonly limits: Pick<Limits, 'replyBytes'> & BudgetSource['limits'];
    readonly messages: Pick<MessageOptions, 'currentStatusInHistory'>;
    readonly retry: { readonly steps: StepPolicy };
  };
}

/** How a turn hears that it is over. */
export type TurnAbort = Pick<LazyAbort, 'signal' | 'aborted' | 'throwIfAborted'>;

/** The task of a turn: one whose lease this process holds, or a log without a store, in tests and replays. */
export interface TurnTask {
  readonly live: { readonly scope: Scope; readonly taskId: string };
  readonly lease: Pick<Lease, 'fence'>;
  /** The task as it is now. */
  readonly state: State;
  /** Up to when times had come as the turn started here: milliseconds since 1970. */
  readonly startedAt: number;
  readonly lines: { add(line: LogLine): void };
  /** Of a turn in a bounded run. */
  readonly limit?: TurnLimit;
  /** Whether the next try of a step follows at once: in unit tests. */
  readonly skipsWaits?: boolean;
  /** Throws or rejects if the facts are refused. */
  write(commands: (state: State) => readonly Command[]): Answer<unknown>;
  /** To be called right before a step has its effect. Throws or rejects if it must not have it. */
  enterStep(abort: TurnAbort): Promise<void> | undefined;
  /** `again`: what earlier attempts of the turn took while they ran. */
  openInbox(signal: AbortSignal, again: readonly MessageReceived[]): Inbox;
}

/** How the run of a leased task begins. */
export interface Begin {
  /** The turn began with the commit that took the lease. */
  readonly started?: boolean;
  /** The id of a message that a request of this process was adding when the lease was taken. */
  readonly arriving?: string | undefined;
}

/** Something happened to a turn, written by this process or not, that is no change of its task's state. */
export interface TurnEvent {
  /**
   * - `taken-over`: this process claimed the task after the lease of the process that ran the turn had expired.
   * - `rerun`: this process runs the agent again for a turn that was left open.
   * - `lost`: this process may no longer write the task in the middle of a turn; further updates of the agent are refused.
   * - `failed`: the agent threw, and another attempt follows.
   * - `cancel-forced`: the task was canceled and its agent did not stop within `timeouts.cancelGraceMs`.
   */
  readonly type: 'taken-over' | 'rerun' | 'lost' | 'failed' | 'cancel-forced';
  readonly taskId: string;
  readonly contextId: string;
  /** The attempt that this is about: the lost one, the new one, the canceled one. From 1. */
  readonly attempt: number;
  /** How many attempts of a turn there may be: 1 under `restart: 'fail'`; of `failed`, how often the agent may throw. */
  readonly maxAttempts: number;
}

const messages: Readonly<Record<Exclude<TurnEvent['type'], 'failed'>, string>> = {
  'taken-over': 'A turn was taken over: the lease of its process expired',
  rerun: 'A turn is run again',
  lost: 'A turn lost its task',
  'cancel-forced': 'A canceled agent did not stop in time',
};

/** Logs an event of a turn or a budget at `warn`. A failure was logged with its error. */
export function logTurnEvent(logger: Logger, event: TurnEvent | BudgetEvent): void {
  const { type, ...details } = event;
  if (type === 'budget') logger('warn', 'Models use up a limit', details);
  else if (type !== 'failed') logger('warn', messages[type], details);
}

/** The hook of the options, which also counts and logs what it is told of. Never throws. */
export function eventHook(
  given: ((event: Transition | TurnEvent | BudgetEvent) => void) | undefined,
  telemetry: Telemetry | undefined,
  logger: Logger,
  runs: EndedRuns,
): TurnDependencies['onEvent'] {
  const onEvent = guardHook('The event hook', given, (message, error) => logger('error', message, { error }));
  return (event, live) => {
    if (event.type === 'transition') {
      telemetry?.transition(event.from, event.to, event.code);
      if (live) runs.saw(event, live);
    } else {
      logTurnEvent(logger, event);
      telemetry?.turnEvent(event.type);
    }
    onEvent(event);
  };
}
