import type { AnswerMessage } from '@batonjs/client';
import type { AgentCard, Task } from '@batonjs/protocol';
import { INTERACTION_MODE } from '../uris.ts';
import { type InteractionMode, isMode, MODE_OFFER_TYPE, type ModeOffer, offerIn } from './mode-offer.ts';

/**
 * The offer that a task waits with; undefined without one. Show its address before anything connects to it: the agent
 * chose it.
 */
export const modeOfferOf = ({ status }: Task): ModeOffer | undefined =>
  status.state === 'TASK_STATE_INPUT_REQUIRED' ? offerIn(status.message) : undefined;

/** The modes that an agent may offer, as its card says. */
export function modesOf({ capabilities }: Pick<AgentCard, 'capabilities'>): InteractionMode[] {
  const extension = capabilities?.extensions?.find(({ uri }) => uri === INTERACTION_MODE);
  const { modes } = Object(extension?.params) as { modes?: unknown };
  return Array.isArray(modes) ? modes.filter(isMode) : [];
}

/**
 * Makes the message that accepts the offer of a task: `agent.send(acceptMode(task))`. Throws `RangeError` if there is no
 * offer, or it has expired by the clock of this machine.
 */
export function acceptMode(task: Task): AnswerMessage {
  const offer = modeOfferOf(task);
  if (offer?.expiresAt && offer.expiresAt.getTime() <= Date.now())
    throw new RangeError(`The offer expired at ${offer.expiresAt.toISOString()}`);
  return answerTo(task, offer, true);
}

/** Makes the message that declines the offer of a task. Throws `RangeError` if there is none. */
export const declineMode = (task: Task): AnswerMessage => answerTo(task, modeOfferOf(task), false);

function answerTo({ id, contextId }: Task, offer: ModeOffer | undefined, accepted: boolean): AnswerMessage {
  if (!offer) throw new RangeError('The task does not wait with an offer of another mode');
  const data = { answer: { offerId: offer.offerId, accepted } };
  return { taskId: id, ...(contextId && { contextId }), parts: [{ data, mediaType: MODE_OFFER_TYPE }] };
}
