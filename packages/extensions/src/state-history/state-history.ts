import { STATE_HISTORY } from '@batonjs/protocol/headers';
import { declare, type Extension } from '../extension.ts';

/**
 * Lets clients that activate the extension see every change of a task's state: GetTask shows them in the metadata of
 * the task. Agents in A2A 0.3 have the capability `stateTransitionHistory` then.
 */
export const stateHistory: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: STATE_HISTORY, description: 'Shows every change of a task’s state' }),
  agent,
});
