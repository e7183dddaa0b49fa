import type { ServerCompatibility } from '@batonjs/bindings';
import type { ChildUpdate } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import type { Agent, Turn } from '../agent/agent.ts';
import type { MessageOptions } from '../agent/message-options.ts';
import type { Logger, ReportFailure } from '../base/hooks/logger.ts';
import type { Telemetry } from '../base/hooks/telemetry.ts';
import type { Limits } from '../base/limits.ts';
import type { Versions } from '../base/store/versions.ts';
import type { Timeouts } from '../base/timeouts.ts';
import type { Clock } from '../base/timing/clock.ts';
import type { Transition } from '../log/write/transition.ts';
import type { Schedule } from './order/schedule.ts';
import type { CompleteCallbacks } from './outside/callback-options.ts';
import type { RetryPolicies } from './retries/retry-policy.ts';
import type { TurnEvent } from './turn-event.ts';

/** Stops work that was started elsewhere. May return what became of children. */
export type CancelHook =
  | ((turn: Turn) => void | Promise<void>)
  | ((turn: Turn) => Promise<readonly ChildUpdate[]>);

/** How turns are claimed and run: the options of a server or worker, completed. Plain values, times in milliseconds. */
export interface TurnOptions {
  readonly queue: string;
  /** Whether this process runs the turns of the messages it accepts, or leaves them to workers. */
  readonly run: 'here' | 'workers';
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
  /** Logs and counts the event, and calls the hook. Never throws. */
  readonly onEvent: (event: Transition | TurnEvent) => void;
  /** Undefined if no telemetry is wanted. */
  readonly telemetry: Telemetry | undefined;
  readonly options: TurnOptions;
}

/** How the run of a leased task begins. */
export interface Begin {
  /** The turn began with the commit that took the lease. */
  readonly started?: boolean;
  /** The id of a message that a request of this process was adding when the lease was taken. */
  readonly arriving?: string | undefined;
}
