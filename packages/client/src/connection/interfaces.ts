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
 * The interfaces of a card whose binding and version this client supports, in the card's order. Spec: §3.6.3, §8.3.2.
 */
export const candidatesOf = (card: AgentCard, settings: Settings): Candidate[] =>
  listed(card).flatMap((entry) => {
    const { protocolBinding, protocolVersion } = entry;
    const entryVersion = parseVersion(protocolVersion) ?? PROTOCOL_VERSION;
    if ((settings.binding ?? protocolBinding) !== protocolBinding) return [];
    if ((settings.version ?? entryVersion) !== entryVersion) return [];
    const codec = settings.bindings.find(
      (binding) => binding.version === entryVersion && isNamed(binding, protocolBinding),
    );
    const address = codec && addressOf(entry, codec);
    return address === undefined ? [] : [{ ...entry, codec: codec!, address }];
  });

/** The error for a card without a usable interface. Its message lists the interfaces of the card. */
export function noInterface(card: AgentCard): ClientError {
  const reachable = listed(card).filter(({ url }) => URL.canParse(url) || /^[^\s/]+:\d+$/.test(url));
  const offered = reachable.map(
    ({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`,
  );
  return new ClientError(
    'NO_INTERFACE',
    `${card.name} has no interface for this client, but ${offered.join(', ') || 'none'}`,
  );
}

const listed = ({ supportedInterfaces }: AgentCard) =>
  (supportedInterfaces ?? []).filter((entry) => typeof entry?.url === 'string');

const isNamed = (codec: ClientBinding | ClientTransport, protocolBinding: string): boolean =>
  codec.name === protocolBinding || ('urlOf' in codec && Boolean(codec.isAlias?.(protocolBinding)));

/** Undefined for an address that the binding cannot use. */
function addressOf({ url }: AgentInterface, codec: ClientBinding | ClientTransport): string | undefined {
  if ('urlOf' in codec) return codec.urlOf(url);
  return URL.canParse(url) ? url : undefined;
}
