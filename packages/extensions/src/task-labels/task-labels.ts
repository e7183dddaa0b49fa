import { LABELS } from '@batonjs/protocol/headers';
import { declare, type Extension } from '../extension.ts';

/**
 * Lets clients that activate the extension see the labels of tasks, in their metadata, and list tasks by labels, skills
 * and the codes of failures.
 */
export const taskLabels: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: LABELS, description: 'Shows the labels of tasks, and lists tasks by them' }),
  agent,
});
