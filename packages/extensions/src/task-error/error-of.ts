import type { Task } from '@batonjs/protocol';
import type { Failure } from '@batonjs/server';
import { failureIn } from './failure-in.ts';

/** The reason why a task FAILED or was REJECTED; undefined if its message has none that programs can read. */
export const errorOf = ({ status }: Task): Failure | undefined =>
  /_(FAILED|REJECTED)$/.test(status.state) ? failureIn(status.message) : undefined;
