import type { Task } from '@batonjs/protocol';
import type { Failure } from '@batonjs/server';
import { failureIn } from './failure-in.ts';

/** Why a task FAILED or was REJECTED, if it says so in a way that programs can read. */
export const errorOf = ({ status }: Task): Failure | undefined =>
  /_(FAILED|REJECTED)$/.test(status.state) ? failureIn(status.message) : undefined;
