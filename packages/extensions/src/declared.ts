import { LABELS, SCHEDULING, STATE_HISTORY, USAGE } from '@batonjs/protocol/headers';
import { declare, type Extension } from './extension.ts';
import { TASK_TREE } from './uris.ts';

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

/** Lets clients that activate the extension put a message off: no turn starts for it before a time. */
export const scheduling: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: SCHEDULING, description: 'Takes messages that are to be worked on later' }),
  agent,
});

/**
 * Lets clients that activate the extension see every change of a task's state: GetTask shows them in the metadata of
 * the task. Agents in A2A 0.3 have the capability `stateTransitionHistory` then.
 */
export const stateHistory: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: STATE_HISTORY, description: 'Shows every change of a task’s state' }),
  agent,
});

/**
 * Lets clients that activate the extension see the labels of tasks, in their metadata, and list tasks by labels, skills
 * and the codes of failures.
 */
export const taskLabels: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: LABELS, description: 'Shows the labels of tasks, and lists tasks by them' }),
  agent,
});

/** Lets clients that activate the extension see what models used for a task, in its metadata: all that have the task. */
export const taskUsage: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: USAGE, description: 'Shows the tokens and the money that a task used' }),
  agent,
});
