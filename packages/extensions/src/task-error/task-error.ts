import { addToMessage, changeUpdates, declare, type Extension, isStatus } from '../extension.ts';
import { TASK_ERROR } from '../uris.ts';
import { failureIn } from './failure-in.ts';

/** Adds the failure of `failed({ code, message, … })` to the status message, for clients that activate the extension. */
export const taskError: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: TASK_ERROR, description: 'Tells programs why a task failed' }),
  agent: changeUpdates(agent, (update, { extensions }) => {
    if (!isStatus(update, 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED')) return update;
    const failure = failureIn(update.status.message);
    return failure && extensions.includes(TASK_ERROR) ? addToMessage(update, TASK_ERROR, failure) : update;
  }),
});
