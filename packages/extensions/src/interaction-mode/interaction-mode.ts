import type { TaskUpdate, Turn } from '@batonjs/server';
import {
  answerFor,
  around,
  declare,
  type Extension,
  mapUpdates,
  withMessages,
  withoutParts,
} from '../extension.ts';
import { INTERACTION_MODE } from '../uris.ts';
import { answerIn, type InteractionMode, MODE_OFFER_TYPE, type ModeOffer, offerIn } from './mode-offer.ts';
import { asking } from './offer-mode.ts';

/** The answer to an offer. */
export interface ModeAnswer {
  readonly offer: ModeOffer;
  readonly isAccepted: boolean;
}

/**
 * Lets the agent offer other modes with `offerMode`: those of `modes`, which the card lists. An answer to another offer
 * than the last one is answered with that again, before the agent runs. Clients that do not activate the extension get
 * the offer as text and may answer with text.
 */
export const interactionMode =
  ({ modes }: { readonly modes: readonly InteractionMode[] }): Extension =>
  ({ card, agent }) => ({
    card: declare(
      {
        ...card,
        defaultInputModes: [
          ...(card.defaultInputModes ?? ['text/plain', 'application/json']),
          MODE_OFFER_TYPE,
        ],
      },
      {
        uri: INTERACTION_MODE,
        description: 'Offers to go on in another mode',
        params: { modes: [...modes] },
      },
    ),
    agent: around(agent, async (turn, inner) => {
      const question = turn.messages.findLast(({ role }) => role === 'ROLE_AGENT');
      const offer = offerIn(question);
      const answer = answerIn(turn.message);
      if (!turn.woken && offer && answer && answer.offerId !== offer.offerId)
        return answerFor(turn, asking(question!.parts));
      const answered = offer && answer && { offer, isAccepted: answer.isAccepted };
      const updates = await inner(withAnswer(turn, answered));
      const isActive = turn.extensions.includes(INTERACTION_MODE);
      return Symbol.asyncIterator in updates
        ? mapUpdates(updates, (update) => checked(update, modes, isActive))
        : updates;
    }),
  });

const answerKey = Symbol('ModeAnswer');

/** How the client answered the last offer; undefined if there was none, or the client answered in its own words. */
export const modeAnswerOf = (turn: Turn): ModeAnswer | undefined =>
  (turn as Turn & { readonly [answerKey]?: ModeAnswer })[answerKey];

/** The turn with the answer, and without it among the values. */
function withAnswer(turn: Turn, answer: ModeAnswer | undefined): Turn {
  const messages = turn.messages.map((message) =>
    message.role === 'ROLE_USER' && message.parts.some(isOfOffer)
      ? { ...message, parts: message.parts.map((part) => (isOfOffer(part) ? { data: {} } : part)) }
      : message,
  );
  return Object.create(withMessages(turn, messages), { [answerKey]: { value: answer } });
}

const isOfOffer = ({ mediaType }: { mediaType?: string | undefined }) => mediaType === MODE_OFFER_TYPE;

/** The update as the client may get it. Throws `TypeError` for an offer of a mode that the card does not list. */
function checked(update: TaskUpdate, modes: readonly InteractionMode[], isActive: boolean): TaskUpdate {
  const offer = 'status' in update ? offerIn(update.status.message) : undefined;
  if (offer && !modes.includes(offer.mode))
    throw new TypeError(`\`modes\` of interactionMode lacks ${offer.mode}`);
  return isActive ? update : withoutParts(update, MODE_OFFER_TYPE, INTERACTION_MODE);
}
