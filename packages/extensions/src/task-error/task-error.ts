import { changing, declare, type Extension, isStatus, mark } from '../extension.ts';
import { TASK_ERROR } from '../uris.ts';
import { failureIn } from './failure-in.ts';

/** Marks what `failed({ code, message, … })` says as the task's error, for clients that ask for it. */
export const taskError: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: TASK_ERROR, description: 'Tells programs why a task failed' }),
  agent: changing(agent, (update, { extensions }) => {
    if (!isStatus(update, 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED')) return update;
    const failure = failureIn(update.status.message);
    return failure && extensions.includes(TASK_ERROR) ? mark(update, TASK_ERROR, failure) : update;
  }),
});
