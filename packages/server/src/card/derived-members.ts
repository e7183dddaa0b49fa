import { IDEMPOTENCY } from '@batonjs/protocol/headers';
import type { AgentServerOptions } from '../options.ts';
import type { KnownOfCard } from './complete-card.ts';

/** What the card says because of how the server is set up. Throws `TypeError` for what callers could not use. */
export function knownOfCard(
  { authenticate, extendedCard, idempotency = 'authenticated' }: AgentServerOptions,
  pushNotifications: boolean,
): KnownOfCard {
  if (extendedCard && !authenticate) throw new TypeError('`extendedCard` needs `authenticate`');
  const isIdempotent = idempotency === 'authenticated' ? authenticate !== undefined : idempotency;
  return {
    securitySchemes: authenticate?.securitySchemes,
    securityRequirements: authenticate?.securityRequirements?.map((requirement) => requirement),
    capabilities: {
      streaming: true,
      pushNotifications,
      ...(extendedCard && { extendedAgentCard: true }),
      ...(isIdempotent && { extensions: [idempotencyExtension] }),
    },
  };
}

const idempotencyExtension = {
  uri: IDEMPOTENCY,
  description: 'A message that is sent again is received once, as long as its task is kept',
};
