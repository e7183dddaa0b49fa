import type { CallingTurn } from '@batonjs/nested-tasks';

/** Where the turn of a streamed agent has what the tools of `a2aTools` need of it. */
export const toolQuestionsKey = Symbol.for('batonjs.ai-sdk.toolQuestions');

/** What the tools of `a2aTools` need of a streamed agent. */
export interface ToolQuestions {
  /** The name of a call to another agent: the same in each turn in which the tool call runs again. */
  nameOf(toolCallId: string): string;
  /**
   * To be awaited before a question of another agent becomes one of this task, which ends the turn. Keeps what the model
   * said so far, so that the next turn goes on with the same call.
   */
  ask(toolCallId: string): Promise<void>;
}

/** A turn of a streamed agent that can call other agents. */
export interface CallingStreamedTurn extends CallingTurn {
  readonly [toolQuestionsKey]?: ToolQuestions;
}
