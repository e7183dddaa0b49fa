import type { Turn } from '@batonjs/server';
import type { ToolQuestions } from '../tool-questions.ts';

/** The calls of tools that wait for an answer to another agent, until all other calls of the step have ended. */
export class PendingQuestions implements ToolQuestions {
  readonly #turn: Turn;
  readonly #resumed: ReadonlyMap<string, string>;
  readonly #uses = new Map<string, number>();
  readonly #asking = new Map<string, PromiseWithResolvers<void>>();
  #expected: readonly string[] = [];
  #onChange = () => {};

  /** `resumed` has the names of the calls with which the kept messages end: nothing has changed since for them. */
  constructor(turn: Turn, resumed: ReadonlyMap<string, string>) {
    this.#turn = turn;
    this.#resumed = resumed;
  }

  nameOf(toolCallId: string): string {
    const use = (this.#uses.get(toolCallId) ?? 0) + 1;
    this.#uses.set(toolCallId, use);
    return use === 1 ? this.callOf(toolCallId) : `${this.callOf(toolCallId)} (${use})`;
  }

  /** The name of the first call with this id. Some models give the ids of one answer again in the next turn. */
  callOf(toolCallId: string): string {
    const { messageId } = this.#turn.message;
    return this.#resumed.get(toolCallId) ?? `${messageId.slice(-90)} ${toolCallId.slice(-90)}`;
  }

  /** Which calls the latest answer of the model makes. */
  expect(toolCallIds: readonly string[]): void {
    this.#expected = toolCallIds;
  }

  /** Calls `listener` when another call asks. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  ask(toolCallId: string): Promise<void> {
    if (this.#resumed.has(toolCallId)) return Promise.resolve();
    const kept = this.#asking.get(toolCallId) ?? Promise.withResolvers<void>();
    this.#asking.set(toolCallId, kept);
    this.#onChange();
    return kept.promise;
  }

  /** Whether the call asks. */
  asks(toolCallId: string): boolean {
    return this.#asking.has(toolCallId);
  }

  /** Whether some call asks, and none of the others can go on: all were read, and those that `isOpen` says ask too. */
  isDue(wasRead: (toolCallId: string) => boolean, open: readonly string[]): boolean {
    return this.#asking.size > 0 && this.#expected.every(wasRead) && open.every((id) => this.#asking.has(id));
  }

  /** Lets this task ask the questions. */
  release(): void {
    for (const { resolve } of this.#asking.values()) resolve();
    this.#asking.clear();
  }
}
