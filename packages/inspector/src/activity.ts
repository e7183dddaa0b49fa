import { guardHook } from '@batonjs/protocol/hooks';
import type { ActionRecord } from './api/agent.ts';

/** How many records are kept. */
const most = 1_000;

/** What was done with an inspector since its process began: the last 1,000 actions, and those that fail in `onAction` too. */
export class Activity {
  readonly #records: ActionRecord[] = [];
  readonly #onAction: (record: ActionRecord) => void;

  constructor(onAction?: (record: ActionRecord) => void) {
    // The function of the program must not undo what was done.
    this.#onAction = guardHook('onAction', onAction);
  }

  /** The newest first. */
  get records(): readonly ActionRecord[] {
    return this.#records.toReversed();
  }

  add(record: ActionRecord): void {
    this.#records.push(record);
    if (this.#records.length > most) this.#records.shift();
    this.#onAction(record);
  }
}
