import { SCHEDULING } from '@batonjs/protocol/headers';
import { declare, type Extension } from '../extension.ts';

/** Lets clients that activate the extension put a message off: no turn starts for it before a time. */
export const scheduling: Extension = ({ card, agent }) => ({
  card: declare(card, { uri: SCHEDULING, description: 'Takes messages that are to be worked on later' }),
  agent,
});
