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
