import type { ServerBinding, ServerCompatibility } from '@batonjs/bindings';
import { PREVIEW_VERSION } from '@batonjs/protocol/headers';
import { type OptionNames, unknownOptions } from '@batonjs/protocol/options';
import type { Backoff } from '@batonjs/protocol/timing';
import type { TaskStore } from '@batonjs/store';
import type { Agent } from './agent/agent.ts';
import { type MessageOptions, messageOptions } from './agent/caller.ts';
import type { TurnRetry } from './agent/retries/retry.ts';
import type { Logger, LoggerMethods } from './base/hooks/logger.ts';
import type { Telemetry } from './base/hooks/telemetry.ts';
import { defaultLimits, type Limits } from './base/limits.ts';
import type { RetentionOptions, RetentionRule } from './base/store/retention.ts';
import type { Deploys } from './base/store/versions.ts';
import {
  mustBePositive,
  type StreamOptions,
  streamOptions,
  type Timeouts,
  timeouts,
} from './base/timeouts.ts';
import type { Clock } from './base/timing/clock.ts';
import type { Authenticate, CallerLimits } from './front/calls/caller-limits.ts';
import type { CorsOptions } from './front/http/cors.ts';
import type { Transition } from './log/write/decision.ts';
import type { CardInput } from './operations/card/derived-members.ts';
import type { Schedules } from './operations/recurring/recurring-task.ts';
import { type FileOptions, fileOptions } from './turns/files/file-options.ts';
import { type QueueOptions, queueOptions } from './turns/order/schedule.ts';
import { type CallbackOptions, callbackOptions } from './turns/outside/callback-options.ts';
import type { BudgetEvent } from './turns/steps/budgets.ts';
import type { CancelHook, TurnEvent } from './turns/turn-dependencies.ts';
import { addressOptions } from './webhooks/address-policy/address-policy.ts';
import { type PushOptions, pushOptions } from './webhooks/webhooks.ts';

/** The options that a worker and a server have in common. All times in milliseconds. */
export interface WorkerOptions {
  readonly agent: Agent;
  /** Where tasks live. Never closed by the server. */
  readonly store: TaskStore;
  /**
   * Names the agent in the store. Several agents on one store need names of their own, or they take each other's tasks.
   * Servers and workers of one agent use the same name. Default `'agent'`.
   */
  readonly name?: string | undefined;
  /** What happens to a turn whose process died: the task fails, or the agent is run again. Default `'fail'`. */
  readonly restart?: 'fail' | 'rerun' | RerunOptions | undefined;
  /** The version of the program, recorded with each turn: at most 64 characters. */
  readonly version?: string | VersionOptions | undefined;
  /**
   * How often the agent is run again that throws, and, in `steps`, how often a step is tried that throws. The task stays
   * WORKING meanwhile. Default: not at all.
   */
  readonly retry?: TurnRetry | undefined;
  /** How long the process waits for what, and how long tasks may take. */
  readonly timeouts?: Partial<Timeouts> | undefined;
  /**
   * Called before a task ends that no agent works on (any more): CANCELED while it waits or after its process died,
   * FAILED because its time is over or its process died. Stop work here that was started elsewhere. Called at least
   * once, waited for at most `timeouts.cancelGraceMs`; its steps are not recorded. The children that it returns are recorded with
   * the end of the task.
   */
  readonly onCancel?: CancelHook | undefined;
  /**
   * How many turns run at once, and in which order. Needs a store with `schedules`. Default: every turn starts as soon
   * as a process has room, the oldest first.
   */
  readonly queue?: QueueOptions | undefined;
  /**
   * Whether other systems may send values to tasks, and people answer questions by links: `turn.callback` opens a URL for
   * one, below `publicUrl`. Then no tenant can be called `callbacks`. Default false.
   */
  readonly callbacks?: CallbackOptions | boolean | undefined;
  /**
   * Where files lie apart from the tasks that name them: large parts of messages and artifacts, and uploads. Then no tenant
   * can be called `files`. Give all servers and workers on a store the same. Default: files lie in the tasks.
   */
  readonly files?: FileOptions | undefined;
  readonly limits?: (Partial<Limits> & LimitsOfCallers) | undefined;
  /**
   * How long tasks are kept that have ended; the process deletes older ones by itself. Default: forever. Give all
   * servers and workers on a store the same.
   */
  readonly retention?: RetentionOptions | undefined;
  /** How messages are taken, and shown in `history`. */
  readonly messages?: Partial<MessageOptions> | undefined;
  /** How webhooks are delivered to, if the store keeps them; false: not at all. */
  readonly push?: PushOptions | false | undefined;
  /**
   * Other versions of the protocol to speak besides 1.0, such as `v03()` of `@batonjs/bindings-v0-3`. `'1.1'`: the
   * extension `GENERATION`, declared in the card, where clients ask for it. Its names may change until 1.1 is released.
   */
  readonly compatibility?: readonly (ServerCompatibility | typeof PREVIEW_VERSION)[] | undefined;
  /**
   * Called with every error that clients are not shown: a function, or a logger of pino or bunyan as it is. Default:
   * errors and warnings to standard error.
   */
  readonly logger?: Logger | LoggerMethods | undefined;
  /**
   * Called with every change of state that this process wrote (`transition`), and every take-over, rerun, lost lease,
   * forced cancel and failure of an agent that is tried again in this process. Those are logged at `warn`, too. So is each
   * limit of a day or a context of which models used 80 %, and all (`budget`).
   */
  readonly onEvent?: ((event: Transition | TurnEvent | BudgetEvent) => void) | undefined;
  /** Is told about requests, turns and deliveries while they last: `telemetry()` of `@batonjs/telemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Time and randomness; for tests. */
  readonly clock?: Partial<Clock> | undefined;
}

/** The options of `createAgentServer`. All times in milliseconds. */
export interface AgentServerOptions extends WorkerOptions {
  readonly card: CardInput;
  /**
   * Whether this process runs the turns of its messages, or leaves them to `createWorker` elsewhere. `'due'`: it works
   * only during calls, also of `runDue`, on hosts that keep no process; needs `restart: 'rerun'`. Default `'here'`.
   */
  readonly run?: 'here' | 'workers' | 'due' | undefined;
  /** Absolute URL at which clients reach this agent. Needed unless they are on this machine or come through a trusted proxy. */
  readonly publicUrl?: string | undefined;
  /** Finds out the caller of a request. Without it, all callers share their tasks. */
  readonly authenticate?: Authenticate | undefined;
  /** Recurring work: `recurring` of `@batonjs/server/schedules`. Default: none. */
  readonly schedules?: Schedules | undefined;
  /** Which web pages may call the agent; `true`: any. Default false: pages may read the card only. */
  readonly cors?: CorsOptions | boolean | undefined;
  readonly streams?: Partial<StreamOptions> | undefined;
  /** How requests are read and answers written. Default: JSON-RPC and HTTP+JSON of A2A 1.0. */
  readonly bindings?: readonly [ServerBinding, ...ServerBinding[]] | undefined;
}

/** How often the agent is run again for a turn whose process died. */
export interface RerunOptions {
  /**
   * How many attempts of a turn count at most. One counts if it wrote something or was tried alone; in all, a turn runs at
   * most three times as often. Default 3.
   */
  readonly maxAttempts: number;
}

/** A version of the program that does not go on with all turns of others. */
export interface VersionOptions {
  readonly name: string;
  /**
   * Which turns that began under other versions go on here. `'any'`: all, and turns are not pinned. `'pinned'`: a turn goes on
   * only under its version. A function: the same, and those of versions for which it returns true go on here. Default `'any'`.
   */
  readonly deploys?: Deploys | undefined;
}

export interface LimitsOfCallers {
  /**
   * How much one caller may use of a server: requests, messages, unfinished tasks. Beyond it, calls are refused as
   * RESOURCE_EXHAUSTED, with the time after which to try again. Needs a store with `take`. Default: no limit.
   */
  readonly callers?: CallerLimits | undefined;
}

const ofCallers: OptionNames<CallerLimits> = {
  requests: true,
  messages: true,
  unfinishedTasks: true,
  callerOf: true,
};
const ofRestart: OptionNames<RerunOptions> = { maxAttempts: true };
const ofVersion: OptionNames<VersionOptions> = { name: true, deploys: true };
const ofBackoff: OptionNames<Backoff> = { initialMs: true, factor: true, maxMs: true, jitter: true };
const ofRetry = { retries: true, retryIf: true, backoff: ofBackoff };
const ofRetention: OptionNames<RetentionOptions> = {
  closedAfterMs: true,
  rules: true,
  everyMs: true,
  batch: true,
};
const ofRule: OptionNames<RetentionRule> = { label: true, skill: true, closedAfterMs: true };

/** All options, and the names of those in a group. The groups with defaults are where the defaults are. */
const known: Readonly<Record<keyof Required<AgentServerOptions>, true | object>> = {
  agent: true,
  authenticate: true,
  bindings: true,
  callbacks: callbackOptions,
  card: true,
  clock: true,
  compatibility: true,
  cors: true,
  files: fileOptions,
  limits: { ...defaultLimits, callers: ofCallers },
  logger: true,
  messages: messageOptions,
  name: true,
  onCancel: true,
  onEvent: true,
  publicUrl: true,
  push: { ...addressOptions, ...pushOptions },
  queue: queueOptions,
  restart: ofRestart,
  retention: { ...ofRetention, rules: [ofRule] },
  retry: { ...ofRetry, steps: { ...ofRetry, timeoutMs: true } },
  run: true,
  schedules: true,
  store: true,
  streams: streamOptions,
  telemetry: true,
  timeouts,
  version: ofVersion,
};

/** A sentence for each option of a server or a worker that does not exist, and for each member of one. */
export const unknownServerOptions = (given: WorkerOptions & Partial<AgentServerOptions>): string[] =>
  unknownOptions(given, known);

/** The other versions to speak, and whether 1.1 is one of them. */
export const spokenVersions = ({
  compatibility = [],
}: Pick<WorkerOptions, 'compatibility'>): { compatibility: ServerCompatibility[]; preview: boolean } => ({
  compatibility: compatibility.filter((other) => typeof other === 'object'),
  preview: compatibility.includes(PREVIEW_VERSION),
});

/** What `restart` says. Throws `TypeError` for a number that cannot work. */
export function restartOf({ restart = 'fail' }: WorkerOptions): {
  restart: 'fail' | 'rerun';
  maxAttempts: number;
} {
  const { maxAttempts = 3 } = (typeof restart === 'object' ? restart : {}) as Partial<RerunOptions>;
  mustBePositive('restart', { maxAttempts });
  return { restart: typeof restart === 'object' ? 'rerun' : restart, maxAttempts };
}

/** What `version` says. */
export const versionOf = ({ version }: WorkerOptions): Partial<VersionOptions> =>
  typeof version === 'object' ? version : { name: version };
