import type { TaskState } from '@batonjs/protocol';
import { InvalidArgumentError } from 'commander';

/** The states that tasks are listed by, as users write them. */
export const stateNames = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
];

/** A state that tasks are listed by. */
export type ListedState = Exclude<TaskState, 'TASK_STATE_UNSPECIFIED'>;

const nameOf = (text: string): string =>
  text
    .replace(/^TASK_STATE_/i, '')
    .replaceAll('_', '-')
    .toLowerCase();

/** The state of the protocol for one that a user wrote. */
export const stateOf = (text: string): ListedState =>
  `TASK_STATE_${nameOf(text).replaceAll('-', '_').toUpperCase()}` as ListedState;

/** Reads a state of the command line. */
export function toState(text: string): ListedState {
  if (stateNames.includes(nameOf(text))) return stateOf(text);
  throw new InvalidArgumentError(`A state is one of ${stateNames.join(', ')}.`);
}
