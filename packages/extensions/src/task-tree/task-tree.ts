import { declare, type Extension } from '../extension.ts';
import { TASK_TREE } from '../uris.ts';

/**
 * Shows clients that activate the extension which task of another agent started a task, and which tasks it started. For
 * agents that are called; `nestedTasks` of `@batonjs/nested-tasks` declares it for agents that call.
 */
export const taskTree: Extension = ({ card, agent }) => ({
  card: declare(card, {
    uri: TASK_TREE,
    description: 'Shows which task started a task, and which tasks it started',
  }),
  agent,
});
