import type { Part } from '@batonjs/protocol';
import { data, inputRequired, type TaskUpdate, text } from '@batonjs/server';
import { INTERACTION_MODE } from '../uris.ts';
import { isChannel, isMode, MODE_OFFER_TYPE, type ModeOffer, needsChannel } from './mode-offer.ts';

/**
 * Offers to go on in another mode: `yield offerMode('Shall we talk?', { mode: 'audio', url })`. The turn ends with it, as
 * with a question, and `modeAnswerOf` tells the next one how the client answered. The text must be complete for clients
 * without the extension. Requires `interactionMode`. Throws `TypeError` for a mode or an address that cannot be offered.
 */
export function offerMode(
  question: string,
  { mode, url, expiresAt }: Omit<ModeOffer, 'offerId'>,
): TaskUpdate {
  if (!isMode(mode)) throw new TypeError(`${mode} is no mode of interaction`);
  if (url === undefined && needsChannel(mode)) throw new TypeError(`An offer of ${mode} needs a \`url\``);
  if (url !== undefined && !isChannel(url))
    throw new TypeError(
      '`url` of an offer must be absolute, of http, https, ws or wss, without credentials in it',
    );
  const offer = {
    offerId: crypto.randomUUID(),
    mode,
    ...(url !== undefined && { url }),
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
  };
  return asking([text(question), data({ offer }, { mediaType: MODE_OFFER_TYPE })]);
}

/** The question with an offer among its parts. */
export function asking(parts: readonly Part[]): TaskUpdate {
  const update = inputRequired([...parts]);
  if ('status' in update && update.status.message) update.status.message.extensions = [INTERACTION_MODE];
  return update;
}
