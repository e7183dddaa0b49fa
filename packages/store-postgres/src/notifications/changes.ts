import type { Topic } from '@batonjs/store';
import { numberOf } from './subscribers.ts';

/** The topics that one transaction changes. */
export class Changes {
  /** Topics by number, and how long the logs of tasks are. */
  readonly touched = new Map<number, number | undefined>();

  /** Notes a change. `version`: the new length of the task's log. */
  touch(topic: Topic, version?: number): void {
    this.touched.set(numberOf(topic), version);
  }
}
