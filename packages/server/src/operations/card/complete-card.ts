import type { ServerBinding } from '@batonjs/bindings';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { compareVersions } from '@batonjs/protocol/headers';
import type { CardInput } from './card-options.ts';
import type { DerivedMembers } from './derived-members.ts';

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
  const { skillOf, extended, sign, ...input } = given;
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
