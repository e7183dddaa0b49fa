import { changing, declare, type Extension, mark } from '../extension.ts';
import { TASK_PROGRESS } from '../uris.ts';

/** Shows `progress()` to clients that ask for it, with the update and in its message; other clients do not see it. */
export const taskProgress: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: TASK_PROGRESS, description: 'Tells how far a task is' }),
  agent: changing(agent, (update, { extensions }) => {
    const { [TASK_PROGRESS]: value, ...rest } = update.metadata ?? {};
    if (value === undefined) return update;
    if (extensions.includes(TASK_PROGRESS)) return mark(update, TASK_PROGRESS, value);
    return { ...update, metadata: Object.keys(rest).length > 0 ? rest : undefined };
  }),
});
