import type { ServerBinding, ServerCompatibility } from '@batonjs/bindings';
import type { TaskStore } from '@batonjs/store';
import type { Agent, Turn } from './agent/agent.ts';
import type { CardInput } from './card/complete-card.ts';
import type { ExtendedCard, SignCard } from './card/served-cards.ts';
import type { Log } from './hooks/log-hook.ts';
import type { Authenticate } from './http/authenticate.ts';
import type { CorsOptions } from './http/cors.ts';
import type { Tenants } from './http/tenants.ts';
import type { Limits, TaskClocks } from './limits/limits.ts';
import type { Transition } from './log/write/transition.ts';
import type { PushOptions } from './push/push-options.ts';
import type { Clock } from './timing/clock.ts';
import type { TurnEvent } from './turns/turn-event.ts';

/** What a worker and a server have in common. All times in milliseconds. */
export interface WorkerOptions {
  readonly agent: Agent;
  /** Where tasks live. Never closed by the server. */
  readonly store: TaskStore;
  /**
   * Names the agent in the store. Several agents on one store need names of their own, or they take each other's tasks.
   * Servers and workers of one agent use the same name. Default `'agent'`.
   */
  readonly name?: string;
  /** What happens to a turn whose process died: the task fails (default), or the agent is run again. */
  readonly restart?: 'fail' | 'rerun';
  /**
   * How many attempts of a turn count at most under `'rerun'`. One counts if it wrote something or was tried alone; in all,
   * a turn runs at most three times as often. Default 3.
   */
  readonly maxAttempts?: number;
  /**
   * Whether `turn.step` asks the store before it calls its function: a turn that lost its task or was canceled in another
   * process learns of it before the effect and not after it. Costs each step one write to the store. Without it, a step
   * asks only after the lease was not renewed in time. Default: under `restart: 'rerun'`.
   */
  readonly confirmSteps?: boolean;
  /** How long a turn outlives its process before another takes over. Default 10,000. */
  readonly leaseMs?: number;
  /** How long an agent may go on after a cancel before the task is CANCELED without it. Default 5,000. */
  readonly cancelGraceMs?: number;
  /**
   * Called before a task becomes CANCELED that no agent works on, because it waits or its process died: for what was
   * started elsewhere. At least once, and waited for no longer than `cancelGraceMs`; its steps are not recorded.
   */
  readonly onCancel?: (turn: Turn) => void | Promise<void>;
  /** How long tasks may take. */
  readonly clocks?: TaskClocks;
  readonly limits?: Partial<Limits>;
  /**
   * How long one store call may take. Default 5,000. All attempts of a write for a client together end after four fifths
   * of it.
   */
  readonly storeTimeoutMs?: number;
  /** How long the store's bell is trusted before looking anyway. Default 1,000; `Infinity`: never look. */
  readonly lookEveryMs?: number;
  /** Whether `history` ends in the message of the current status. Default false. */
  readonly currentStatusInHistory?: boolean;
  /** How webhooks are served, if the store keeps them; false: not at all. */
  readonly push?: PushOptions | false;
  /** Other versions of the protocol to speak besides 1.0, such as `v03()` of `@batonjs/bindings-v0-3`. */
  readonly compatibility?: readonly ServerCompatibility[];
  /** Sees every error that clients are not shown. Default: errors and warnings to standard error. */
  readonly log?: Log;
  /** Sees every change of state that this process wrote. */
  readonly onTransition?: (transition: Transition) => void;
  /** Sees every take-over, rerun, lost lease and forced cancel in this process. They are logged at `warn` as well. */
  readonly onTurn?: (event: TurnEvent) => void;
  /** Time and chance; for tests. */
  readonly clock?: Partial<Clock>;
}

/** What `createAgentServer` takes. All times in milliseconds. */
export interface AgentServerOptions extends WorkerOptions {
  readonly card: CardInput;
  /** Whether this process runs the turns of what it accepts (default), or leaves them to `createWorker` elsewhere. */
  readonly run?: 'here' | 'workers';
  /** Absolute URL at which clients reach this agent. Needed unless they are on this machine or come through a trusted proxy. */
  readonly publicUrl?: string;
  /** Says who calls. Without it, all callers share their tasks. */
  readonly authenticate?: Authenticate;
  /**
   * What authenticated callers are told instead, or who is told what. Media types and extensions that only it names are
   * not accepted: name them in `card` too.
   */
  readonly extendedCard?: ExtendedCard;
  /** Signs the cards. Needs `publicUrl`: no request may choose the address that is signed. */
  readonly signCard?: SignCard;
  /**
   * Which tenants there are; a request may always name none. Default: any name, each with tasks of its own. The card of
   * a tenant is at `/<tenant>/.well-known/agent-card.json`.
   */
  readonly tenants?: Tenants;
  /** Which web pages may call the agent; `true`: any. Default false: pages may read the card only. */
  readonly cors?: CorsOptions | boolean;
  /**
   * Whether a message that starts a task may be repeated: the same `messageId` of the same caller then meets the task that
   * it started, and with other content it is refused (`MESSAGE_ID_CONFLICT`). Default: for authenticated callers. For
   * messages to an existing task this always holds, whatever is set here: a task has one message of an id.
   */
  readonly idempotency?: boolean | 'authenticated';
  /** How long a blocking SendMessage waits before the task is returned as it is. Default 120,000. */
  readonly blockingMs?: number;
  /** How long CancelTask waits for the task to end before it is returned as it is. Default 10,000. */
  readonly cancelWaitMs?: number;
  /** Whether the stream of a send ends at INPUT_REQUIRED (default) or only with the task. */
  readonly closeStreamsOnInputRequired?: boolean;
  /** How requests are read and answers written. Default: JSON-RPC and HTTP+JSON of A2A 1.0. */
  readonly bindings?: readonly [ServerBinding, ...ServerBinding[]];
}
