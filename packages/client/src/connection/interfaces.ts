import type { ClientBinding } from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { PROTOCOL_VERSION, parseVersion } from '@batonjs/protocol/headers';
import { ClientError } from '../client-error.ts';
import type { Settings } from '../options/settings.ts';

/** An interface of a card with the binding that encodes its calls. */
export interface Candidate extends AgentInterface {
  readonly codec: ClientBinding;
}

/**
 * The interfaces of a card whose binding and version this client supports, in the card's order. Spec: §3.6.3, §8.3.2.
 */
export const candidatesOf = (card: AgentCard, settings: Settings): Candidate[] =>
  listed(card).flatMap((entry) => {
    const { protocolBinding, protocolVersion } = entry;
    const entryVersion = parseVersion(protocolVersion) ?? PROTOCOL_VERSION;
    if ((settings.binding ?? protocolBinding) !== protocolBinding) return [];
    if ((settings.version ?? entryVersion) !== entryVersion) return [];
    const codec = settings.bindings.find(
      ({ name, version }) => name === protocolBinding && version === entryVersion,
    );
    return codec ? [{ ...entry, codec }] : [];
  });

/** The error for a card without a usable interface. Its message lists the interfaces of the card. */
export function noInterface(card: AgentCard): ClientError {
  const offered = listed(card).map(
    ({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`,
  );
  return new ClientError(
    'NO_INTERFACE',
    `${card.name} has no interface that can be used here; its card lists ${offered.join(', ') || 'none'}`,
  );
}

const listed = ({ supportedInterfaces }: AgentCard) =>
  (supportedInterfaces ?? []).filter((entry) => typeof entry?.url === 'string' && URL.canParse(entry.url));
