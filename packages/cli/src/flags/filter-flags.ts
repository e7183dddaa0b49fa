import type { TaskState } from '@batonjs/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Flags, toTexts } from './agent-flags.ts';
import { toDuration } from './duration.ts';

/** The states that tasks are listed by, as users write them. */
const stateNames = 'submitted working input-required auth-required completed failed canceled rejected'.split(
  ' ',
);

type ListedState = Exclude<TaskState, 'TASK_STATE_UNSPECIFIED'>;

const nameOf = (text: string): string =>
  text
    .replace(/^TASK_STATE_/i, '')
    .replaceAll('_', '-')
    .toLowerCase();

/** The state of the protocol for one that a user wrote. */
const stateOf = (text: string): ListedState =>
  `TASK_STATE_${nameOf(text).replaceAll('-', '_').toUpperCase()}` as ListedState;

/** Reads a state of the command line. */
export function toState(text: string): ListedState {
  if (stateNames.includes(nameOf(text))) return stateOf(text);
  throw new InvalidArgumentError(`A state is one of ${stateNames.join(', ')}.`);
}

/** Flags that say which tasks are meant: those with all that is given. */
export interface FilterFlags extends Flags<'skill' | 'code' | 'contextId'> {
  readonly state?: ListedState;
  readonly label?: readonly string[];
  /** In milliseconds. */
  readonly since?: number;
}

export const addFilterFlags = (command: Command): Command =>
  command
    .addOption(
      new Option('--state <state>', `only those in this state: ${stateNames.join(', ')}`).argParser(toState),
    )
    .option('--label <label>', 'only those with this label; may be repeated', toTexts)
    .option('--skill <id>', 'only those with a message for this skill')
    .option('--code <code>', 'only those that failed with this code')
    .option('--context-id <id>', 'only those of this context')
    .option('--since <duration>', 'only those whose status changed within this time', toDuration);
