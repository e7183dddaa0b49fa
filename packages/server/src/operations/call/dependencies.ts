import type { AgentCard } from '@batonjs/protocol';
import type { TaskName } from '@batonjs/store';
import type { SkillOf } from '../../agent/skill-of.ts';
import type { StreamOptions } from '../../base/streams.ts';
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
  readonly streams: StreamOptions;
  /** Finds the skill that a message is for; undefined if no message names one. */
  readonly skillOf: SkillOf | undefined;
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
  /** Works on the task of a call that waits for it, until the returned function is called. Undefined: others do. */
  readonly work: ((task: TaskName) => () => Promise<void>) | undefined;
  readonly options: OperationOptions;
}
