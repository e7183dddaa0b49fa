import { createHash } from 'node:crypto';
import type { HttpReply, ServerBinding } from '@batonjs/bindings';
import type { AgentCapabilities, AgentCard, AgentSkill } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { JSON_TYPE } from '@batonjs/protocol/headers';
import type { HttpExchange } from './http-exchange.ts';

/** What you say about your agent; all else of the card is filled in. */
export type CardInput = Pick<AgentCard, 'name' | 'description'> &
  Partial<Omit<AgentCard, 'name' | 'description' | 'skills' | 'capabilities'>> & {
    readonly skills?: readonly SkillInput[];
    readonly capabilities?: AgentCapabilities;
  };

/** A skill; `tags` may be left out. */
export type SkillInput = Omit<AgentSkill, 'tags'> & Partial<Pick<AgentSkill, 'tags'>>;

/** The card without its interfaces, which depend on where the server is reached. */
export function completeCard(input: CardInput, capabilities: AgentCapabilities): AgentCard {
  return {
    version: '1.0.0',
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    ...input,
    supportedInterfaces: input.supportedInterfaces ?? [],
    skills: (input.skills ?? []).map((skill) => ({ ...skill, tags: skill.tags ?? [] })),
    capabilities: { ...capabilities, ...input.capabilities },
  };
}

/** The card of a server that is reached at `baseUrl`. Throws `INTERNAL_ERROR` if nobody knows where that is. */
export function cardAt(
  card: AgentCard,
  baseUrl: string | undefined,
  bindings: readonly ServerBinding[],
): AgentCard {
  if (card.supportedInterfaces.length > 0) return card;
  if (baseUrl === undefined) {
    throw new A2AError('INTERNAL_ERROR', 'The server does not know its public URL', {
      cause: new Error('Set `publicUrl`: the request does not come from this machine or a trusted proxy'),
    });
  }
  const supportedInterfaces = bindings.map(({ name, version }) => ({
    url: baseUrl,
    protocolBinding: name,
    protocolVersion: version,
  }));
  return { ...card, supportedInterfaces };
}

/** The answer to a GET of the card; 304 if the client has it already. Spec: §8.6. */
export function cardReply(card: object, { headers, method }: HttpExchange): HttpReply {
  const body = JSON.stringify(card);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const caching = {
    etag,
    'cache-control': 'public, max-age=60',
    vary: 'A2A-Version',
    'access-control-allow-origin': '*',
  };
  if (matches(headers['if-none-match'], etag)) return { status: 304, headers: caching };
  return {
    status: 200,
    headers: { ...caching, 'content-type': JSON_TYPE },
    ...(method !== 'HEAD' && { body }),
  };
}

const matches = (known = '', etag: string): boolean =>
  known.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
