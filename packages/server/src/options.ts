import type { ServerBinding, ServerCompatibility } from '@batonjs/bindings';
import { type OptionNames, unknownOptions } from '@batonjs/protocol/options';
import type { TaskStore } from '@batonjs/store';
import type { Agent } from './agent/agent.ts';
import type { LabelsOf } from './agent/labels-of.ts';
import type { TurnRetry } from './agent/retries/retry.ts';
import type { SkillOf } from './agent/skill-of.ts';
import type { Logger, LoggerMethods } from './base/hooks/logger.ts';
import type { Telemetry } from './base/hooks/telemetry.ts';
import type { Limits } from './base/limits.ts';
import { type RetentionOptions, unknownRetentionOptions } from './base/store/retention.ts';
import type { Deploys } from './base/store/versions.ts';
import type { Clock } from './base/timing/clock.ts';
import type { Authenticate } from './front/calls/authenticate.ts';
import type { CallerLimits } from './front/calls/caller-limits.ts';
import type { Tenants } from './front/calls/tenants.ts';
import type { CorsOptions } from './front/http/cors.ts';
import type { Transition } from './log/write/transition.ts';
import type { CardInput } from './operations/card/complete-card.ts';
import type { ExtendedCard, SignCard } from './operations/card/served-cards.ts';
import type { Schedules } from './operations/recurring/recurring-task.ts';
import type { ScheduleOptions } from './turns/order/schedule.ts';
import type { TaskClocks } from './turns/order/task-deadlines.ts';
import type { CallbackOptions } from './turns/outside/callback-options.ts';
import { unknownRetryOptions } from './turns/retries/retry-options.ts';
import type { CancelHook } from './turns/turn-dependencies.ts';
import type { TurnEvent } from './turns/turn-event.ts';
import { type PushOptions, unknownPushOptions } from './webhooks/push-options.ts';

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
  /**
   * Whether it uses the tasks of its `name` beside agents with other cards. The store remembers the card of each name:
   * an agent whose card has another name, and which is not at the same public URL, does no work otherwise, is not ready,
   * and tells the logger so. Once is enough after a change of the card. Default false.
   */
  readonly sharesQueue?: boolean | undefined;
  /** What happens to a turn whose process died: the task fails, or the agent is run again. Default `'fail'`. */
  readonly restart?: 'fail' | 'rerun' | undefined;
  /** The version of the program, recorded with each turn: at most 64 characters. */
  readonly version?: string | undefined;
  /**
   * Which turns that began under other versions go on here. `'any'`: all, and turns are not pinned. `'pinned'`: a turn
   * goes on only under its version. A function: the same, and those of versions for which it returns true go on here.
   * Needs `version`. Default `'any'`.
   */
  readonly deploys?: Deploys | undefined;
  /**
   * How many attempts of a turn count at most under `'rerun'`. One counts if it wrote something or was tried alone; in
   * all, a turn runs at most three times as often. Default 3.
   */
  readonly maxAttempts?: number | undefined;
  /**
   * How often the agent is run again that throws, and, in `steps`, how often a step is tried that throws. The task stays
   * WORKING meanwhile. Default: not at all.
   */
  readonly retry?: TurnRetry | undefined;
  /** How long a turn outlives its process before another takes over. Default 10,000. */
  readonly leaseMs?: number | undefined;
  /** How long an agent may go on after a cancel before the task is CANCELED without it. Default 5,000. */
  readonly cancelGraceMs?: number | undefined;
  /**
   * Called before a task ends that no agent works on (any more): CANCELED while it waits or after its process died,
   * FAILED because its time is over or its process died. Stop work here that was started elsewhere. Called at least
   * once, waited for at most `cancelGraceMs`; its steps are not recorded. The children that it returns are recorded with
   * the end of the task.
   */
  readonly onCancel?: CancelHook | undefined;
  /**
   * How many turns run at once, and in which order. Needs a store with `schedules`. Default: every turn starts as soon
   * as a process has room, the oldest first.
   */
  readonly schedule?: ScheduleOptions | undefined;
  /**
   * Whether other systems may send values to tasks, and people answer questions by links: `turn.callback` opens a URL for
   * one, below `publicUrl`. Then no tenant can be called `callbacks`. Default false.
   */
  readonly callbacks?: CallbackOptions | boolean | undefined;
  /** How long tasks may take. */
  readonly clocks?: TaskClocks | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /**
   * How long tasks are kept that have ended; the process deletes older ones by itself. Default: for ever. Give all
   * servers and workers on a store the same.
   */
  readonly retention?: RetentionOptions | undefined;
  /**
   * How long one store call may take. Default 5,000. All attempts of a write for a client together end after four
   * fifths of it.
   */
  readonly storeTimeoutMs?: number | undefined;
  /**
   * How often the process reads the tasks that it follows from the store, in case a notification was lost. Default
   * 1,000; `Infinity`: never.
   */
  readonly sweepEveryMs?: number | undefined;
  /** Whether `history` ends in the message of the current status. Default false. */
  readonly currentStatusInHistory?: boolean | undefined;
  /** How webhooks are delivered to, if the store keeps them; false: not at all. */
  readonly push?: PushOptions | false | undefined;
  /** Other versions of the protocol to speak besides 1.0, such as `v03()` of `@batonjs/bindings-v0-3`. */
  readonly compatibility?: readonly ServerCompatibility[] | undefined;
  /**
   * Called with every error that clients are not shown: a function, or a logger of pino or bunyan as it is. Default:
   * errors and warnings to standard error.
   */
  readonly logger?: Logger | LoggerMethods | undefined;
  /** Called with every change of state that this process wrote. */
  readonly onTransition?: ((transition: Transition) => void) | undefined;
  /**
   * Called with every take-over, rerun, lost lease, forced cancel and failure of an agent that is tried again in this
   * process. Each is logged at `warn`, too.
   */
  readonly onTurn?: ((event: TurnEvent) => void) | undefined;
  /** Is told about requests, turns and deliveries while they last: `telemetry()` of `@batonjs/telemetry`. */
  readonly telemetry?: Telemetry | undefined;
  /** Time and randomness; for tests. */
  readonly clock?: Partial<Clock> | undefined;
}

/** The options of `createAgentServer`. All times in milliseconds. */
export interface AgentServerOptions extends WorkerOptions {
  readonly card: CardInput;
  /** Whether this process runs the turns of its messages, or leaves them to `createWorker` elsewhere. Default `'here'`. */
  readonly run?: 'here' | 'workers' | undefined;
  /**
   * Absolute URL at which clients reach this agent. Needed unless they are on this machine or come through a trusted
   * proxy.
   */
  readonly publicUrl?: string | undefined;
  /** Finds out the caller of a request. Without it, all callers share their tasks. */
  readonly authenticate?: Authenticate | undefined;
  /**
   * How much one caller may use: requests, messages, unfinished tasks. Beyond it, calls are refused as
   * RESOURCE_EXHAUSTED, with the time after which to try again. Needs a store with `take`. Default: no limit.
   */
  readonly callerLimits?: CallerLimits | undefined;
  /**
   * Finds the skill that a message is for, so that its `securityRequirements` are enforced before the message is
   * accepted. A message to a task must meet those of the skills that earlier messages of the task named, too.
   * `typedSkills` of `@batonjs/extensions` brings one. Needed if skills of `card` have `securityRequirements`.
   */
  readonly skillOf?: SkillOf | undefined;
  /**
   * The labels with which the task of a message begins: at most 16 texts of 1 to 64 characters. They stay:
   * `labels` of the agent add to them. Throws or returns others: the message is refused, and the logger gets the reason.
   */
  readonly labelsOf?: LabelsOf | undefined;
  /** Recurring work: `recurring` of `@batonjs/server/schedules`. Default: none. */
  readonly schedules?: Schedules | undefined;
  /**
   * Members that replace those of `card` for authenticated callers, the same for all or by caller. Media types and
   * extensions that only these members name are not accepted, and `securityRequirements` that only they list are not
   * checked: name them in `card` too.
   */
  readonly extendedCard?: ExtendedCard | undefined;
  /** Signs the cards. Needs `publicUrl`: no request may choose the address that is signed. */
  readonly signCard?: SignCard | undefined;
  /**
   * The tenants that exist; a request may always name none. Default: any name is a tenant with tasks of its own. The
   * card of a tenant is at `/<tenant>/.well-known/agent-card.json`.
   */
  readonly tenants?: Tenants | undefined;
  /** Which web pages may call the agent; `true`: any. Default false: pages may read the card only. */
  readonly cors?: CorsOptions | boolean | undefined;
  /**
   * Whether a message that starts a task may be repeated: the same `messageId` of the same caller then returns the task
   * that it started, and is refused with other content (`MESSAGE_ID_CONFLICT`). For 24 hours after that task was deleted,
   * it is refused with `TASK_NOT_FOUND`. Default: for authenticated callers.
   * Messages to an existing task can always be repeated: a task has one message of an id.
   */
  readonly idempotency?: boolean | 'authenticated' | undefined;
  /**
   * How long a blocking SendMessage waits before the task is returned as it is. Default 50,000: proxies cut requests off
   * after 60 s. Clients of Baton go on waiting; others read or follow the task.
   */
  readonly blockingMs?: number | undefined;
  /**
   * How long a stream over HTTP is silent before it sends a comment, so that proxies keep the connection. Default 15,000.
   * Below the time after which the proxy closes idle ones: some do after 10 s.
   */
  readonly heartbeatMs?: number | undefined;
  /** How long CancelTask waits for the task to end before it is returned as it is. Default 10,000. */
  readonly cancelWaitMs?: number | undefined;
  /** Whether the stream of a send ends at INPUT_REQUIRED, or only with the task. Default true. */
  readonly closeStreamsOnInputRequired?: boolean | undefined;
  /**
   * Parts of coming versions of the protocol to speak where clients ask for them. `1.1`: the extension `GENERATION`,
   * declared in the card. Its names may change until 1.1 is released. Default: none.
   */
  readonly preview?: readonly '1.1'[] | undefined;
  /** How long GetTask with `currentGeneration` waits for a change, with `preview`. Default 30,000. */
  readonly generationWaitMs?: number | undefined;
  /** How requests are read and answers written. Default: JSON-RPC and HTTP+JSON of A2A 1.0. */
  readonly bindings?: readonly [ServerBinding, ...ServerBinding[]] | undefined;
}

const names: OptionNames<AgentServerOptions> = {
  agent: true,
  authenticate: true,
  bindings: true,
  blockingMs: true,
  callbacks: true,
  callerLimits: true,
  cancelGraceMs: true,
  cancelWaitMs: true,
  card: true,
  clock: true,
  clocks: true,
  closeStreamsOnInputRequired: true,
  compatibility: true,
  cors: true,
  deploys: true,
  currentStatusInHistory: true,
  extendedCard: true,
  generationWaitMs: true,
  heartbeatMs: true,
  idempotency: true,
  labelsOf: true,
  leaseMs: true,
  limits: true,
  logger: true,
  maxAttempts: true,
  name: true,
  onCancel: true,
  onTransition: true,
  onTurn: true,
  preview: true,
  publicUrl: true,
  push: true,
  restart: true,
  retention: true,
  retry: true,
  run: true,
  schedule: true,
  schedules: true,
  sharesQueue: true,
  signCard: true,
  skillOf: true,
  store: true,
  storeTimeoutMs: true,
  sweepEveryMs: true,
  telemetry: true,
  tenants: true,
  version: true,
};

const ofLimits: OptionNames<Limits> = {
  turns: true,
  queuedTurns: true,
  factsPerTask: true,
  bytesPerTask: true,
  memoryBytes: true,
  logLinesPerTask: true,
  logBytesPerTask: true,
  followersPerTask: true,
  replyBytes: true,
  notBeforeMs: true,
  bodyBytes: true,
  jsonDepth: true,
  jsonValues: true,
};
const ofSchedule: OptionNames<ScheduleOptions> = {
  concurrency: true,
  perCaller: true,
  perContext: true,
  priority: true,
};
const ofClocks: OptionNames<TaskClocks> = { totalMs: true, inactivityMs: true, interruptedMs: true };
const ofCallbacks: OptionNames<CallbackOptions> = { url: true, bytes: true, rate: true };
const ofCallerLimits: OptionNames<CallerLimits> = {
  requests: true,
  messages: true,
  unfinishedTasks: true,
  callerOf: true,
};

/** A sentence for each option of a server or a worker that does not exist, and for each member of one. */
export function unknownServerOptions(given: WorkerOptions & Partial<AgentServerOptions>): string[] {
  const { limits, push, clocks, retention, callbacks, callerLimits, schedule, retry } = given;
  return [
    ...unknownOptions(given, names),
    ...unknownOptions(limits, ofLimits, 'limits'),
    ...unknownPushOptions(push),
    ...unknownRetryOptions(retry),
    ...unknownOptions(schedule, ofSchedule, 'schedule'),
    ...unknownOptions(clocks, ofClocks, 'clocks'),
    ...unknownRetentionOptions(retention),
    ...unknownOptions(callbacks, ofCallbacks, 'callbacks'),
    ...unknownOptions(callerLimits, ofCallerLimits, 'callerLimits'),
  ];
}
