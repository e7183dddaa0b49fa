import type { ClientBinding } from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { PROTOCOL_VERSION, parseVersion } from '@batonjs/protocol/headers';
import { ClientError } from './client-error.ts';
import type { Settings } from './settings.ts';

/** An interface of a card, and how to speak to it. */
export interface Candidate extends AgentInterface {
  readonly codec: ClientBinding;
}

/**
 * The interfaces of a card that this client speaks, binding and version, in the card's order. Throws `NO_INTERFACE` when
 * there is none. Spec: §3.6.3, §8.3.2.
 */
export function candidatesOf(card: AgentCard, settings: Settings): Candidate[] {
  const listed = (card.supportedInterfaces ?? []).filter(
    (entry) => typeof entry?.url === 'string' && URL.canParse(entry.url),
  );
  const candidates = listed.flatMap((entry) => {
    const { protocolBinding, protocolVersion } = entry;
    const spoken = parseVersion(protocolVersion) ?? PROTOCOL_VERSION;
    if ((settings.binding ?? protocolBinding) !== protocolBinding) return [];
    if ((settings.version ?? spoken) !== spoken) return [];
    const codec = settings.bindings.find(
      ({ name, version }) => name === protocolBinding && version === spoken,
    );
    return codec ? [{ ...entry, codec }] : [];
  });
  if (candidates.length === 0) {
    const offered = listed.map(
      ({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`,
    );
    throw new ClientError(
      'NO_INTERFACE',
      `${card.name} has no interface that can be used here; its card lists ${offered.join(', ') || 'none'}`,
    );
  }
  return candidates;
}
