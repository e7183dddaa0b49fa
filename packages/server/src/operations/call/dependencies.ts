import type { AgentCard } from '@batonjs/protocol';
import type { LabelsOf } from '../../agent/labels-of.ts';
import type { SkillOf } from '../../agent/skill-of.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import type { Claimer } from '../../turns/claim/claimer.ts';
import type { Runner } from '../../turns/runner.ts';
import type { TurnDependencies, TurnOptions } from '../../turns/turn-dependencies.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { ServedCards } from '../card/served-cards.ts';

/** How operations are answered: the options of a server, completed. Plain values, times in milliseconds. */
export interface OperationOptions extends TurnOptions {
  /** Whether the agent always works on a task. */
  readonly alwaysTask: boolean;
  /** How many tasks of a caller may be unfinished; undefined: any number. */
  readonly unfinishedTasks: number | undefined;
  /** Whether the same `messageId` starts one task only. */
  readonly idempotency: boolean | 'authenticated';
  /** Whether the version 1.1 is spoken before it is released. */
  readonly preview: boolean;
  /** How long GetTask waits for a change of the generation. */
  readonly generationWaitMs: number;
  /** How long a blocking SendMessage may take before the task is returned as it is. */
  readonly blockingMs: number;
  /** How long a stream over HTTP is silent before it sends a comment. */
  readonly heartbeatMs: number;
  /** How long CancelTask waits for the task to end before it is returned as it is. */
  readonly cancelWaitMs: number;
  /** Whether the stream of a send ends at INPUT_REQUIRED, or only when the task does. */
  readonly closeStreamsOnInputRequired: boolean;
  /** Finds the skill that a message is for; undefined if no message names one. */
  readonly skillOf: SkillOf | undefined;
  /** The labels of the task that a message starts; undefined if no task begins with one. */
  readonly labelsOf: LabelsOf | undefined;
}

/** The objects that operations are answered with. Made once for each server. */
export interface Dependencies extends TurnDependencies {
  /** The public card, without interfaces unless they were given. */
  readonly card: AgentCard;
  readonly cards: ServedCards;
  readonly tasks: LiveTasks;
  readonly runner: Runner;
  readonly claimer: Claimer;
  /** Undefined if the server delivers to no webhooks. */
  readonly push: Webhooks | undefined;
  /** Whether the server still accepts requests. */
  readonly isOpen: () => boolean;
  readonly options: OperationOptions;
}
