import type { AgentCard } from '@batonjs/protocol';
import type { Cards } from '../../card/served-cards.ts';
import type { RunSettings } from '../../limits/limits.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import type { PushSettings } from '../../push/webhooks.ts';
import type { Claimer } from '../../turns/claim/claimer.ts';
import type { Runner } from '../../turns/runner.ts';

/** What the operations are made of. */
export interface ServiceSettings extends RunSettings {
  /** The public card, without interfaces unless they were given. */
  readonly card: AgentCard;
  readonly cards: Cards;
  readonly tasks: LiveTasks;
  readonly runner: Runner;
  readonly claimer: Claimer;
  /** Undefined where there are no webhooks. */
  readonly push: PushSettings | undefined;
  /** Whether the agent always works on a task. */
  readonly alwaysTask: boolean;
  /** Whether the same `messageId` starts one task only. */
  readonly idempotency: boolean | 'authenticated';
  /** How long a blocking send may take before the task is returned as it is, in milliseconds. */
  readonly blockingMs: number;
  /** How long CancelTask waits for the task to end before it is returned as it is, in milliseconds. */
  readonly cancelWaitMs: number;
  /** Whether a stream of a send ends at INPUT_REQUIRED, or only when the task does. */
  readonly closeStreamsOnInputRequired: boolean;
  /** Whether the server still accepts work. */
  readonly isOpen: () => boolean;
}
