import type { ClientBinding, ClientTransport } from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { PROTOCOL_VERSION, parseVersion } from '@batonjs/protocol/headers';
import { ClientError } from '../client-error.ts';
import type { Settings } from '../options/settings.ts';

/** An interface of a card with the binding that encodes its calls. */
export interface Candidate extends AgentInterface {
  readonly codec: ClientBinding | ClientTransport;
  /** The interface's URL as one of HTTP: its origin decides which headers are sent. */
  readonly address: string;
}

/**
 * The interfaces of a card whose binding and version this client supports, in the card's order. An interface of 0.3 is none of
 * them if there is one of a newer version. Spec: §3.6.3, §8.3.2.
 */
export const candidatesOf = (card: AgentCard, settings: Settings): Candidate[] =>
  listed(card)
    .flatMap((entry) => {
      const { protocolBinding, protocolVersion } = entry;
      const entryVersion = parseVersion(protocolVersion) ?? PROTOCOL_VERSION;
      if ((settings.binding ?? protocolBinding) !== protocolBinding) return [];
      if ((settings.version ?? entryVersion) !== entryVersion) return [];
      const codec = settings.bindings.find(
        (binding) =>
          binding.version === entryVersion &&
          (binding.name === protocolBinding || ('urlOf' in binding && binding.isAlias?.(protocolBinding))),
      );
      const address = codec && addressOf(entry, codec);
      return address ? [{ ...entry, codec: codec!, address }] : [];
    })
    // Versions are compared as text: bindings have those from 0.3 to 1.1.
    .filter(({ codec: { version } }, _, all) => all.every(({ codec }) => codec.version <= version));

/** The error for a card without a usable interface. Its message lists the interfaces of the card. */
export function noInterface(card: AgentCard): ClientError {
  const offered = listed(card)
    .filter(({ url }) => URL.canParse(url) || /^[^\s/]+:\d+$/.test(url))
    .map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`);
  return new ClientError(
    'NO_INTERFACE',
    `${card.name} has no interface for this client, but ${offered.join(', ') || 'none'}`,
  );
}

const listed = ({ supportedInterfaces }: AgentCard) =>
  (supportedInterfaces ?? []).filter((entry) => typeof entry?.url === 'string');

/** Undefined for an address that the binding cannot use. */
const addressOf = ({ url }: AgentInterface, codec: ClientBinding | ClientTransport): string | undefined =>
  'urlOf' in codec ? codec.urlOf(url) : URL.canParse(url) ? url : undefined;
