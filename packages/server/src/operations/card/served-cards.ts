import type { ServerBinding } from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { remember } from '@batonjs/protocol/bounded-map';
import { A2AError } from '@batonjs/protocol/errors';
import { compareVersions } from '@batonjs/protocol/headers';
import type { Caller } from '../../agent/caller.ts';
import type { CardInput, DerivedMembers, ExtendedCard, SignCard } from './derived-members.ts';

/** The URL and tenant that a card is requested for. */
export interface CardMount {
  /** The URL at which the server was reached, if the request can be trusted to say it. */
  readonly baseUrl: string | undefined;
  readonly tenant?: string | undefined;
}

/** The cards of a server, as clients get them. */
export type ServedCards = ReturnType<typeof createServedCards>;

/** The parts that cards are made of. */
export interface ServedCardsOptions {
  readonly card: AgentCard;
  readonly complete: (members: Partial<CardInput>) => AgentCard;
  readonly extended: ExtendedCard | undefined;
  readonly sign: SignCard | undefined;
  readonly bindings: readonly ServerBinding[];
  /** Interfaces beside those of the bindings. Read again for every card. */
  readonly added: readonly AgentInterface[];
  readonly publicUrl: string | undefined;
}

const mostSigned = 100;

/** Makes the cards of a server. Throws `TypeError` if clients could choose the address that is signed. Spec: §8, §3.1.11. */
export function createServedCards(options: ServedCardsOptions) {
  const { card, complete, extended, sign, bindings, added, publicUrl } = options;
  if (sign && publicUrl === undefined && card.supportedInterfaces.length === 0)
    throw new TypeError(
      '`card.sign` needs `publicUrl`: without it, each request would choose the address that is signed',
    );
  const at = (of: AgentCard, { baseUrl, tenant }: CardMount) =>
    cardAt(of, publicUrl ?? baseUrl, bindings, added, tenant);
  const signed = sign ? signOnce(sign) : async (unsigned: AgentCard) => unsigned;
  return {
    public: async (mount: CardMount): Promise<AgentCard> => signed(at(card, mount)),
    /** Rejects with `EXTENDED_AGENT_CARD_NOT_CONFIGURED` if there is none for the caller. */
    async extended(mount: CardMount, caller: Caller | undefined): Promise<AgentCard> {
      const members = typeof extended === 'function' ? caller && (await extended(caller)) : extended;
      if (!members) throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
      return signed(at(complete(members), mount));
    },
    /** Where the public card says that the agent is reached over a binding; undefined if the server does not know. */
    addressOf(binding: string, mount?: CardMount): string | undefined {
      const listed = card.supportedInterfaces.length > 0 ? card.supportedInterfaces : added;
      const found = listed.find(({ protocolBinding }) => protocolBinding === binding);
      if (found) return found.url;
      return bindings.some(({ name }) => name === binding) ? (publicUrl ?? mount?.baseUrl) : undefined;
    },
  };
}

/** Signs a card once: a signature differs each time, and with it the card's `ETag`. */
function signOnce(sign: SignCard): (card: AgentCard) => Promise<AgentCard> {
  const signed = new Map<string, Promise<AgentCard>>();
  return (card) => {
    const key = JSON.stringify(card);
    const known = signed.get(key);
    if (known) return known;
    const signing = Promise.resolve(card).then(sign);
    remember(signed, key, signing, mostSigned);
    signing.catch(() => signed.delete(key));
    return signing;
  };
}

/** Throws `TypeError` for a card without a name or description. */
export function mustBeNamed(card: CardInput): void {
  for (const member of ['name', 'description'] as const)
    if (typeof card?.[member] !== 'string' || card.name.trim() === '')
      throw new TypeError(
        `\`card.${member}\` is missing: give the agent a card such as { name: 'Weather', description: 'Says how the weather will be' }`,
      );
}

/** The card without its interfaces, which depend on the URL at which the server is reached. */
export function completeCard(given: CardInput, derived: DerivedMembers): AgentCard {
  const { skillOf, extended, sign, tenants, ...input } = given;
  const { securitySchemes, securityRequirements, capabilities } = derived;
  const extensions = [...(input.capabilities?.extensions ?? [])];
  for (const extension of capabilities.extensions ?? [])
    if (!extensions.some(({ uri }) => uri === extension.uri)) extensions.push(extension);
  return {
    version: '1.0.0',
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    ...(securitySchemes && { securitySchemes }),
    ...(securityRequirements && { securityRequirements }),
    ...input,
    supportedInterfaces: input.supportedInterfaces ?? [],
    skills: (input.skills ?? []).map((skill) => ({ ...skill, tags: skill.tags ?? [] })),
    capabilities: { ...capabilities, ...input.capabilities, ...(extensions.length > 0 && { extensions }) },
  };
}

/** The card of a server that is reached at `baseUrl`, with the interfaces of newer versions first. Throws `INTERNAL_ERROR` if that URL is unknown. */
export function cardAt(
  card: AgentCard,
  baseUrl: string | undefined,
  bindings: readonly ServerBinding[],
  added: readonly AgentInterface[],
  tenant?: string,
): AgentCard {
  if (card.supportedInterfaces.length > 0) return card;
  if (baseUrl === undefined && added.length === 0) {
    throw new A2AError('INTERNAL_ERROR', 'The server does not know its public URL', {
      cause: new Error(
        'Set `publicUrl`: the request does not come from this machine, does not name it, or came through a proxy',
      ),
    });
  }
  const own =
    baseUrl === undefined
      ? []
      : bindings.map(({ name, version }) => ({
          url: baseUrl,
          protocolBinding: name,
          protocolVersion: version,
        }));
  const supportedInterfaces = [...own, ...added]
    .sort((one, other) => compareVersions(other.protocolVersion, one.protocolVersion))
    .map((entry) => ({ ...entry, ...(tenant && { tenant }) }));
  return { ...card, supportedInterfaces };
}
