import { createHash } from 'node:crypto';
import type { HttpReply, ServerBinding } from '@batonjs/bindings';
import type { AgentCapabilities, AgentCard, AgentSkill } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS, A2A_VERSION, JSON_TYPE } from '@batonjs/protocol/headers';
import type { HttpExchange } from '../http/http-exchange.ts';

/** What you say about your agent; all else of the card is filled in. */
export type CardInput = Pick<AgentCard, 'name' | 'description'> &
  Partial<Omit<AgentCard, 'name' | 'description' | 'skills' | 'capabilities'>> & {
    readonly skills?: readonly SkillInput[];
    readonly capabilities?: AgentCapabilities;
  };

/** A skill; `tags` may be left out. */
export type SkillInput = Omit<AgentSkill, 'tags'> & Partial<Pick<AgentSkill, 'tags'>>;

/** What a server knows about its card by itself. */
export interface KnownOfCard extends Pick<AgentCard, 'securitySchemes' | 'securityRequirements'> {
  readonly capabilities: AgentCapabilities;
}

/** The card without its interfaces, which depend on where the server is reached. */
export function completeCard(input: CardInput, known: KnownOfCard): AgentCard {
  const { securitySchemes, securityRequirements, capabilities } = known;
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

/** The card of a server that is reached at `baseUrl`. Throws `INTERNAL_ERROR` if nobody knows where that is. */
export function cardAt(
  card: AgentCard,
  baseUrl: string | undefined,
  bindings: readonly ServerBinding[],
  tenant?: string,
): AgentCard {
  if (card.supportedInterfaces.length > 0) return card;
  if (baseUrl === undefined) {
    throw new A2AError('INTERNAL_ERROR', 'The server does not know its public URL', {
      cause: new Error(
        'Set `publicUrl`: the request does not come from this machine, does not name it, or came through a proxy',
      ),
    });
  }
  const supportedInterfaces = bindings.map(({ name, version }) => ({
    url: baseUrl,
    protocolBinding: name,
    protocolVersion: version,
    ...(tenant && { tenant }),
  }));
  return { ...card, supportedInterfaces };
}

/** The answer to a GET of the public card; 304 if the client has it already. Spec: §8.6. */
export const cardReply = (card: object, exchange: HttpExchange): HttpReply =>
  revalidated(
    {
      status: 200,
      headers: {
        'content-type': JSON_TYPE,
        'cache-control': 'public, max-age=60',
        vary: A2A_VERSION,
        'access-control-allow-origin': '*',
      },
      body: JSON.stringify(card),
    },
    exchange,
  );

/** The answer with an extended card, which only this caller may keep. Spec: §13.3. */
export const extendedCardReply = (
  reply: HttpReply,
  exchange: HttpExchange,
  credentialHeaders: readonly string[],
): HttpReply =>
  revalidated(
    {
      ...reply,
      headers: {
        ...reply.headers,
        'cache-control': 'private, max-age=60',
        vary: [A2A_VERSION, A2A_EXTENSIONS, ...credentialHeaders].join(', '),
      },
    },
    exchange,
  );

function revalidated(reply: HttpReply, { headers, method }: HttpExchange): HttpReply {
  const { body } = reply;
  if (typeof body !== 'string' || (method !== 'GET' && method !== 'HEAD')) return reply;
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const { 'content-type': type, ...caching } = reply.headers;
  if (matches(headers['if-none-match'], etag)) return { status: 304, headers: { ...caching, etag } };
  return { ...reply, headers: { ...reply.headers, etag }, ...(method === 'HEAD' && { body: undefined }) };
}

const matches = (known = '', etag: string): boolean =>
  known.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
