import type { Metadata } from '@batonjs/server';
import { addToMessage, changeUpdates, declare, type Extension } from '../extension.ts';
import { TASK_PROGRESS } from '../uris.ts';

/** Sends `progress()` to clients that activate the extension, in the update and in its message. Other clients do not get it. */
export const taskProgress: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: TASK_PROGRESS, description: 'Tells how far a task is' }),
  agent: changeUpdates(agent, (update, { extensions }) => {
    const { [TASK_PROGRESS]: value, ...rest } = update.metadata ?? {};
    if (value === undefined) return update;
    if (extensions.includes(TASK_PROGRESS)) return addToMessage(update, TASK_PROGRESS, value);
    return { ...update, metadata: Object.keys(rest).length > 0 ? rest : undefined };
  }),
});

/**
 * Creates the metadata that reports progress with an update: `yield working('Reading page 3', progress(3, 10))`. Throws
 * `RangeError` unless both are finite numbers and `done` is from 0 to `total`.
 */
export function progress(done: number, total = 100): Metadata {
  if (!(done >= 0 && done <= total && total < Number.POSITIVE_INFINITY))
    throw new RangeError(`Progress goes from 0 to a total, not ${done} of ${total}`);
  return { [TASK_PROGRESS]: { aggregate: { progress: done, total } } };
}
